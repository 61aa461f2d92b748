/**
 * Measures what opens and clicks cost segments with rules about them. Reads `opens` opens into one segment, and 250 clicks into a hundred
 * segments, and prints the longest stretch for which the thread did nothing else.
 *
 *   npm run bench:engagement -- [opens]
 */
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { launchMailing, sampleHtml } from '../../fixtures/mailing.ts';
import { followActivity } from '../../src/audience/segments/follow-activity.ts';
import { createSegment } from '../../src/audience/segments/segments.ts';
import { connect, type Db } from '../../src/database/open.ts';
import { DELIVERY_STATE } from '../../src/database/schema/index.ts';
import { enqueueRecipients } from '../../src/delivery/queue/enqueue-recipients.ts';
import { systemClock } from '../../src/time/clock.ts';
import { inFolder, type Measurement, measureWork } from './measure.ts';
import { report, type Table } from './report.ts';

const opens = Number(process.argv[2] ?? 100_000);
const CLICKS = 250;
const SEGMENTS = 100;
const RULES = [
  { select_field: ['activity.last'], select_operator: ['is within'], value: ['30'] },
  { select_field: ['activity.mails'], select_operator: ['clicked any of the last'], value: ['10'] },
  { select_field: ['activity.mails'], select_operator: ['opened none of the last'], value: ['5'] },
];

/** Adds `count` events of the first recipients, old enough to be read at once. */
function addEvents(db: Db, kind: 'open' | 'click', count: number): void {
  db.$client
    .prepare(`
      INSERT INTO events (mailing_id, delivery_id, kind, link_number, happened_at)
      SELECT 1, id, ?, 0, ? FROM deliveries ORDER BY id LIMIT ?`)
    .run(kind, Date.now() - 60_000, count);
}

/** Reads all new events into the segments, and measures that. */
async function follow(db: Db, count: number): Promise<Measurement & { stretchMs: number }> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const result = await measureWork(count, async () => {
    while (await followActivity(db, systemClock));
  });
  delay.disable();
  return { ...result, stretchMs: delay.max / 1e6 };
}

await inFolder(async (folder) => {
  const db = connect(join(folder, 'bench.db'));
  await launchMailing(db, opens, sampleHtml(5000, 2));
  await enqueueRecipients(db.$client, 1, () => true);
  db.$client.exec(`
    UPDATE mailings SET state = 'done', finished_at = created_at;
    UPDATE deliveries SET state = ${DELIVERY_STATE.accepted}, updated_at = unixepoch() * 1000 - 3600000`);
  const table: Table = {};
  const add = (name: string, { units, cpuSeconds, seconds, stretchMs }: Awaited<ReturnType<typeof follow>>) => {
    table[name] = {
      events: units,
      'CPU µs each': Math.round((cpuSeconds / units) * 1e7) / 10,
      'ms in all': Math.round(seconds * 1000),
      'longest stretch ms': Math.round(stretchMs),
    };
  };
  for (let number = 0; number < SEGMENTS; number++) {
    const rule = RULES[number % RULES.length];
    if (rule === undefined) break;
    await createSegment(db, systemClock, 1, { segment_name: `Segment ${number}`, contact_type_id: 1, ...rule });
    if (number > 0) continue;
    addEvents(db, 'open', opens);
    add('first opens into one segment, all of whom join', await follow(db, opens));
    addEvents(db, 'open', opens);
    add('opens of its members', await follow(db, opens));
  }
  addEvents(db, 'click', CLICKS);
  add(`clicks into ${SEGMENTS} segments`, await follow(db, CLICKS));
  addEvents(db, 'click', CLICKS);
  add('the same again', await follow(db, CLICKS));
  db.$client.close();
  report(table, []);
});
