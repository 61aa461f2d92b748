/** The warm-up of a sender domain in the built service as a process that is killed. Run `npm run build` before. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { connect } from '../../../src/database/open.ts';
import { DAY_MS } from '../../../src/units.ts';
import { Service, startSink } from '../../support/service.ts';
import { addReaders } from '../../support/service-campaign.ts';
import { wallClock } from '../../support/wall-clock.ts';

const PEOPLE = 200;
const VOLUME = 1_000_000;
/** What is left of the volume of a day near its end: it is spread over the rest of that. */
const LEFT = 40;
const REST_MS = 20_000;
const LAST_MS = 6000;
const KILLS = 3;

t.test('no more leaves than the volume of the day, however often the service is killed during hand-offs', async (t) => {
  const midnight = (Math.floor(Date.now() / DAY_MS) + 2) * DAY_MS;
  const sink = await startSink(t, 100);
  const settings = { SMTP_URL: sink.url, SENDER_VERIFICATION: 'optional', ...wallClock(midnight - DAY_MS / 2, 1) };
  const service = new Service(t, settings);
  await service.start();
  const mail = await addReaders(service, PEOPLE);
  const plan = { domain: 'example.com', volume: String(VOLUME), until_volume: String(2 * VOLUME) };
  await service.post('/senders/warm-ups/save', plan);
  await service.end('SIGTERM');
  const db = connect(join(service.folder, 'test.db')).$client;
  t.teardown(async () => void db.close());
  db.prepare(
    'INSERT INTO warm_up_days (warm_up_id, day, volume, mails) SELECT id, starts_on, volume, volume - ? FROM warm_ups',
  ).run(LEFT);
  /** How many count on the day, and on the next one, too, where the machine is slow. */
  const days = db.prepare<[], number>('SELECT mails FROM warm_up_days ORDER BY day').pluck();
  const counted = () => days.all().reduce((sum, mails) => sum + mails, LEFT - VOLUME);
  const received = () => sink.mails.filter(({ to }) => to.startsWith('reader')).length;
  let ends = 0;
  /** Starts it so long before the end of the day. */
  const start = async (restMs: number) => {
    Object.assign(settings, wallClock(midnight - restMs, 1));
    ends = Date.now() + restMs - 500;
    await service.start();
  };
  /** Kills it when so many mails have come, at the end of the day at the latest. */
  const killAt = async (mails: number) => {
    while (received() < mails && counted() < LEFT && Date.now() < ends) await pause(5);
    await service.end('SIGKILL');
    t.ok(received() <= counted(), `${received()} have left, and ${counted()} count`);
  };
  await start(REST_MS);
  await service.post('/single/send/create', { ...mail, template_html: '<p>Hello</p>', schedule_type: '0' });
  await killAt(3);
  for (let kill = 1; kill < KILLS; kill++) {
    await start(REST_MS);
    await killAt(received() + 3);
  }
  await start(LAST_MS);
  await killAt(PEOPLE);
  t.ok(Number(days.get()) <= VOLUME, 'no more than the volume');
});
