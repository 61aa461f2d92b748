/** Changing the mails of a live automation in which many people wait: they are moved in parts, also across a kill. */
import { eq } from 'drizzle-orm';
import t from 'tap';
import { removeSchedule } from '../../src/automations/automations.ts';
import { NewMails, takeDueSteps } from '../../src/automations/enrolment.ts';
import { applyMembershipChanges } from '../../src/automations/membership-changes.ts';
import { continueMoves, moveOrStore, movesTo, orderSteps } from '../../src/automations/move-enrolments.ts';
import { readConfig } from '../../src/config.ts';
import { connect, type Db } from '../../src/database/open.ts';
import { automationSchedules } from '../../src/database/schema/index.ts';
import type { OrderChange } from '../../src/delivery/queue/enrolment-state.ts';
import { DAY, HOUR, withWelcomeSeries } from '../support/automations.ts';

const EARLY = 450;
const LATE = 350;

/** A live series in which 450 people wait for the second mail and 350 for the first, which is due now. */
async function withMany(t: Parameters<typeof withWelcomeSeries>[0]) {
  const world = await withWelcomeSeries(t);
  const { app, utr, get } = world;
  await world.live();
  const add = async (name: string, count: number) => {
    const rows = Array.from({ length: count }, (_, at) => `${name}${at}@example.org`);
    const content = `email\n${rows.join('\n')}`;
    const multipart: [string, string | { filename: string; content: string }][] = [
      ['contact_type_id', '1'],
      ['file', { filename: 'people.csv', content }],
    ];
    const { status, text } = await app.one.call('POST', '/contacts/upload-csv', { multipart });
    t.equal(status, 200, text);
  };
  await add('early', EARLY);
  await world.pass(DAY);
  await add('late', LATE);
  while (applyMembershipChanges(app.db) > 0);
  const utrs = async () => {
    const { mails } = (await get('/automations/series', { utr })).body.message.series;
    return new Map<string, string>(mails.map((mail: { subject: string; utr: string }) => [mail.subject, mail.utr]));
  };
  /** Writes a change as a request does that is killed at once; a background moves some people and is killed too; the next does the rest. */
  const killedAfter = async (change: (db: Db) => OrderChange) => {
    const killed = connect(app.db.name);
    killed.$client.transaction(() => moveOrStore(killed.$client, 1, change(killed))).immediate();
    t.equal(await continueMoves(killed.$client, () => false), true, 'some are left');
    const deps = {
      db: killed,
      clock: app.clock,
      config: readConfig({}),
      log: () => undefined,
      newMails: new NewMails(),
    };
    t.equal(await takeDueSteps(deps), 0, 'no mail is enqueued for whoever is due');
    killed.$client.close();
    app.restartBackground();
    await app.background();
    isDone();
  };
  const isDone = () => {
    for (const table of ['automation_moves', 'moved_mails'])
      t.equal(app.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), 0);
    sameCounts();
  };
  const sameCounts = () => {
    const counted = app.db
      .prepare(`
        SELECT state, ifnull(reason, '') AS reason, iif(state = 'active', position, 0) AS position,
          state = 'active' AND delivery_id IS NOT NULL AS is_queued, count(*) AS people
        FROM enrolments GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`)
      .all();
    const kept = app.db
      .prepare(
        'SELECT state, reason, position, is_queued, people FROM enrolment_counts WHERE people > 0 ORDER BY 1, 2, 3, 4',
      )
      .all();
    t.strictSame(kept, counted, 'the kept counts are those of the rows');
  };
  const accepted = app.db.prepare<[], { who: string; subject: string }>(`
    SELECT a.normalized_email AS who, m.content ->> '$.content.subject' AS subject
    FROM deliveries d JOIN mailings m ON m.id = d.mailing_id JOIN addresses a ON a.id = d.address_id
    WHERE d.state = 2 AND m.owner_kind = 'schedule' ORDER BY d.updated_at, d.id`);
  /** How many people had which mails in which order. */
  const ways = () => {
    const had = new Map<string, string[]>();
    for (const { who, subject } of accepted.all()) had.set(who, [...(had.get(who) ?? []), subject]);
    const counts: Record<string, number> = {};
    for (const [who, subjects] of had) {
      const way = `${who.replace(/\d+@.*/, '')}: ${subjects.join(' ')}`;
      counts[way] = (counts[way] ?? 0) + 1;
    }
    return counts;
  };
  return { ...world, utrs, killedAfter, isDone, ways };
}

t.test('who waits in an automation of many is moved when the answer comes, as the question said', async (t) => {
  const { utr, utrs, ways, pass, post, isDone } = await withMany(t);
  const mails = await utrs();
  const order = { utr, mails: ['three', 'two', 'one'].map((subject) => mails.get(subject)) };
  const asked = await post('/automations/schedule/reorder', { ...order, dry_run: 1 });
  const done = await post('/automations/schedule/reorder', order);
  isDone();
  t.strictSame(done.effects, asked.effects);
  t.match(done.effects.people, [
    { from: mails.get('one'), to: mails.get('three'), people: LATE, moved: LATE, due_now: 0 },
    { from: mails.get('two'), to: mails.get('three'), people: EARLY, moved: EARLY, due_now: EARLY },
  ]);
  const removed = await post('/automations/schedule/remove', { utr: mails.get('two') });
  isDone();
  t.match(removed.effects.people, [{ to: mails.get('three'), people: EARLY + LATE, moved: 0 }]);
  await pass(10 * DAY);
  t.strictSame(ways(), { 'early: one three': EARLY, 'late: three one': LATE });
});

t.test(
  'after a reorder that a kill interrupts, everybody gets what was ahead of them, and nothing twice',
  async (t) => {
    const { killedAfter, ways, pass } = await withMany(t);
    await killedAfter((db) => orderSteps(db.$client, 1, [3, 2, 1]));
    await pass(10 * DAY);
    t.strictSame(ways(), { 'early: one three two': EARLY, 'late: three two one': LATE });
  },
);

t.test('a mail whose removal a kill interrupts goes to nobody, and its people wait for the next', async (t) => {
  const { app, killedAfter, ways, pass } = await withMany(t);
  const two = app.drizzle.select().from(automationSchedules).where(eq(automationSchedules.id, 2)).get();
  if (two === undefined) throw new Error('no mail 2');
  await killedAfter((db) => removeSchedule(db, two).moves);
  await pass(10 * DAY);
  t.strictSame(ways(), { 'early: one three': EARLY, 'late: one three': LATE });
});

t.test(
  'a longer wait that a kill interrupts holds for everybody: nobody gets the mail before its new time',
  async (t) => {
    const { killedAfter, ways, pass } = await withMany(t);
    await killedAfter((db) => {
      db.$client.exec("UPDATE automation_schedules SET waiting_type = 'days', waiting_period = 4 WHERE id = 2");
      return movesTo(db.$client, 1, 2);
    });
    await pass(3 * DAY - HOUR);
    t.strictSame(ways(), { 'early: one': EARLY, 'late: one': LATE });
    await pass(6 * DAY);
    t.strictSame(ways(), { 'early: one two three': EARLY, 'late: one two three': LATE });
  },
);
