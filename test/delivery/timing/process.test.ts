/** Frequency caps, and their own time zones, in the built service as a process that is killed. Run `npm run build` before. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { connect, type Db } from '../../../src/database/open.ts';
import { readCountries } from '../../../src/database/place-data.ts';
import { SENDER } from '../../support/sender.ts';
import { Service, startSink } from '../../support/service.ts';

const PEOPLE = 120;
const SETTINGS = { SENDER_VERIFICATION: 'optional', SHUTDOWN_SECONDS: '2', RECALL_SECONDS: '0' };

const messageId = (raw: Buffer) => /^Message-ID: (\S+)/im.exec(String(raw))?.[1] ?? '';

/** What a request for a mail to everybody has, besides its name and its time. */
const MAIL = {
  ...{ template_id: '1', template_html: '<p>Hello</p>', sender_id: '1', unsubscribe_group_id: '1' },
  ...{ preheader: 'x', 'recipient_id[0]': 'contacts_1' },
};

/** The service with a sender, a group and an empty list, and its database. */
async function started(t: Test) {
  const sink = await startSink(t);
  const service = new Service(t, { ...SETTINGS, SMTP_URL: sink.url });
  await service.start();
  await service.post('/sender/save', { ...SENDER, country_id: '1' });
  await service.post('/unsubscribes-groups/save', { group_name: 'News', description: 'n', is_display: '1' });
  await service.post('/contacts-type/add', { name: 'Everybody' });
  const db = connect(join(service.folder, 'test.db'));
  t.teardown(() => db.$client.close());
  return { sink, service, db };
}

/** Waits until the single sends are done; gives how many recipients have each state. */
async function finalStates({ $client: client }: Db) {
  const open = client
    .prepare("SELECT count(*) FROM mailings WHERE owner_kind = 'single' AND finished_at IS NULL")
    .pluck();
  while (open.get() !== 0) await pause(20);
  return client
    .prepare(
      "SELECT state, count(*) AS people FROM deliveries WHERE mailing_id IN (SELECT id FROM mailings WHERE owner_kind = 'single') GROUP BY state",
    )
    .all();
}

/** The different mails that each person got. */
function mailsByPerson(mails: readonly { to: string; raw: Buffer }[]): Map<string, Set<string>> {
  const had = new Map<string, Set<string>>();
  for (const { to, raw } of mails) had.set(to, (had.get(to) ?? new Set()).add(messageId(raw)));
  return had;
}

t.test(
  'of three mailings at once each person gets one, also when the service is killed with kill -9 in between',
  async (t) => {
    const { sink, service, db } = await started(t);
    await service.post('/sending/caps/save', { 'caps[0]': '1/1' });
    db.$client.exec(`
    INSERT INTO addresses (user_id, normalized_email)
      WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < ${PEOPLE}) SELECT 1, 'p' || at || '@example.org' FROM n;
    INSERT INTO contacts (user_id, contact_type_id, address_id, first_name, email, country_id, created_at, updated_at)
      SELECT 1, 1, id, 'P', normalized_email, 1, '', '' FROM addresses WHERE normalized_email GLOB 'p*@example.org' ORDER BY id`);
    const before = sink.mails.length;
    sink.allow(before + 20);
    for (const name of ['one', 'two', 'three'])
      await service.post('/single/send/create', {
        ...MAIL,
        single_send_name: name,
        subject: name,
        schedule_type: '0',
      });
    // The relay takes more texts than it answers, so that the kill comes between hand-offs and their results.
    for (const allowed of [50, 90, Number.POSITIVE_INFINITY]) {
      const taken = sink.mails.length;
      while (sink.mails.length < Math.max(taken + 1, before + 25)) await pause(5);
      await service.end('SIGKILL');
      sink.allow(before + allowed);
      await service.start();
    }
    t.strictSame(await finalStates(db), [
      { state: 2, people: PEOPLE },
      { state: 5, people: 2 * PEOPLE },
    ]);
    const had = mailsByPerson(sink.mails.filter(({ to }) => to.startsWith('p')));
    t.equal(had.size, PEOPLE);
    t.ok(
      [...had.values()].every(({ size }) => size === 1),
      'one mail each; what is repeated after a kill is the same mail',
    );
  },
);

t.test(
  'between the times of two zones a kill -9 loses nobody, sends nobody a second mail, and nobody theirs early',
  async (t) => {
    const { sink, service, db } = await started(t);
    const countries = readCountries();
    const places = ['JP', 'AQ'].map((code) => countries.find(({ iso2 }) => iso2 === code)?.id);
    // In Japan the time is over; where nobody lives it is that of the account.
    db.$client
      .prepare(`
      INSERT INTO addresses (user_id, normalized_email)
        WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < ${PEOPLE}) SELECT 1, 'p' || at || '@example.org' FROM n`)
      .run();
    db.$client
      .prepare(`
      INSERT INTO contacts (user_id, contact_type_id, address_id, first_name, email, country_id, created_at, updated_at)
        SELECT 1, 1, id, 'P', normalized_email, iif(id % 2, ?, ?), '', '' FROM addresses WHERE normalized_email GLOB 'p*@example.org' ORDER BY id`)
      .run(places);
    const isJapanese = db.$client
      .prepare(
        'SELECT c.country_id = ? FROM contacts c CROSS JOIN addresses a ON a.id = c.address_id WHERE a.normalized_email = ?',
      )
      .pluck();
    const before = sink.mails.length;
    sink.allow(before + 20);
    const start = new Date(Math.ceil((Date.now() + 12_000) / 1000) * 1000);
    await service.post('/single/send/create', {
      ...MAIL,
      single_send_name: 'n',
      subject: 'n',
      schedule_type: '1',
      schedule_date: start.toISOString().slice(0, 10),
      schedule_time: start.toISOString().slice(11, 19),
      local_time: '1',
    });
    const taken = () => sink.mails.slice(before).filter(({ to }) => to.startsWith('p'));
    for (const allowed of [40, Number.POSITIVE_INFINITY]) {
      const count = taken().length;
      while (taken().length < Math.max(count + 1, 15)) await pause(5);
      await service.end('SIGKILL');
      sink.allow(before + allowed);
      await service.start();
    }
    while (taken().length < PEOPLE / 2) await pause(5);
    const early = taken().filter(({ to }) => isJapanese.get(places[0], to) !== 1);
    t.equal(Date.now() < start.getTime() ? early.length : 0, 0);
    const states = await finalStates(db);
    t.ok(Date.now() >= start.getTime());
    t.strictSame(states, [{ state: 2, people: PEOPLE }]);
    const had = mailsByPerson(taken());
    t.equal(had.size, PEOPLE);
    t.ok([...had.values()].every(({ size }) => size === 1));
  },
);
