/** Which file adds the rows of which table and changes the column that others rely on. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';

const SRC = resolve(import.meta.dirname, '../src');

/** The one file or folder that adds rows to each of these tables and changes the column. */
const OWNERS = [
  { table: 'deliveries', variable: 'deliveries', column: 'state', owner: 'delivery/queue/ledger/' },
  { table: 'deliveries', variable: 'deliveries', column: 'counts_to_caps', owner: 'delivery/queue/ledger/' },
  { table: 'node_pages', variable: 'nodePages', column: 'deliveries', owner: 'delivery/queue/ledger/' },
  { table: 'watched_mailings', variable: 'watchedMailings', column: 'stage', owner: 'delivery/watch/' },
  { table: 'local_waits', variable: 'localWaits', column: 'people', owner: 'delivery/timing/' },
  { table: 'warm_ups', variable: 'warmUps', column: 'ended_on', owner: 'delivery/warm-up/' },
  { table: 'warm_up_days', variable: 'warmUpDays', column: 'mails', owner: 'delivery/warm-up/' },
  { table: 'delivery_reasons', variable: 'deliveryReasons', column: 'count', owner: 'delivery/queue/ledger/' },
  { table: 'mailing_hours', variable: 'mailingHours', column: 'hour', owner: 'delivery/feedback/' },
  { table: 'mailing_devices', variable: 'mailingDevices', column: 'device', owner: 'delivery/feedback/' },
  { table: 'mailings', variable: 'mailings', column: 'state', owner: 'delivery/queue/mailing-state.ts' },
  { table: 'archived_mails', variable: 'archivedMails', column: 'published_at', owner: 'campaigns/archive/' },
  { table: 'single_sends', variable: 'singleSends', column: 'status', owner: 'campaigns/status.ts' },
  { table: 'automations', variable: 'automations', column: 'status', owner: 'automations/status.ts' },
  { table: 'contact_imports', variable: 'contactImports', column: 'state', owner: 'audience/import/' },
  { table: 'activity', variable: 'activity', column: 'last_at', owner: 'audience/segments/follow-activity.ts' },
  { table: 'sunset_people', variable: 'sunsetPeople', column: 'lifted_at', owner: 'audience/sunset/' },
  { table: 'suppressions', variable: 'suppressions', column: 'kind', owner: 'audience/suppressions.ts' },
  {
    table: 'unsubscribers',
    variable: 'unsubscribers',
    column: 'unsubscribe_groups_id',
    owner: 'audience/unsubscribes.ts',
  },
  { table: 'transactional_mails', variable: 'transactionalMails', column: 'state', owner: 'delivery/transactional/' },
  { table: 'feeds', variable: 'feeds', column: 'state', owner: 'feeds/' },
  { table: 'feed_items', variable: 'feedItems', column: 'item', owner: 'feeds/' },
  { table: 'forms', variable: 'forms', column: 'is_active', owner: 'forms/' },
  { table: 'form_requests', variable: 'formRequests', column: 'state', owner: 'forms/' },
  { table: 'webhook_endpoints', variable: 'webhookEndpoints', column: 'state', owner: 'webhooks/' },
  { table: 'enrolments', variable: 'enrolments', column: 'state', owner: 'delivery/queue/enrolment-state.ts' },
];

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
const textOf = (file: string) => readFileSync(join(SRC, file), 'utf8');

t.test('one file or folder adds the rows of each state and changes it', async (t) => {
  const wrong = OWNERS.flatMap(({ owner, ...state }) =>
    files
      .filter((file) => !file.startsWith(owner) && changesState(textOf(file), state))
      .map((file) => `${file} changes ${state.table}.${state.column}, which only ${owner} may`),
  );
  t.strictSame(wrong, []);
  for (const { owner, ...state } of OWNERS)
    t.ok(
      files.some((file) => file.startsWith(owner) && changesState(textOf(file), state)),
      `${owner} changes ${state.table}.${state.column}`,
    );
});

t.test('one file takes an address off the list of unsubscribed or suppressed ones', async (t) => {
  const wrong = ['suppressions', 'unsubscribers'].flatMap((table) => {
    const removes = new RegExp(`\\bDELETE\\s+FROM\\s+[\`"]?${table}\\b|\\.delete\\(${table}\\)`, 'i');
    const removing = files.filter((file) => removes.test(textOf(file)));
    t.equal(removing.length, 1, `${table}: ${removing}`);
    return removing.filter((file) => file !== OWNERS.find((owner) => owner.table === table)?.owner);
  });
  t.strictSame(wrong, []);
});

t.test('a change of a state is found in SQL and in queries, and reading one is none', async (t) => {
  const state = { table: 'mailings', variable: 'mailings', column: 'state' };
  for (const change of [
    'INSERT INTO mailings (id) VALUES (1)',
    'INSERT OR IGNORE INTO `mailings` (id) VALUES (1)',
    'db.insert(mailings).values({})',
    "UPDATE mailings SET state = 'done' WHERE id = ?",
    'UPDATE OR IGNORE mailings AS m SET triggered = (SELECT 1 FROM x WHERE y), state = @next WHERE id = ?',
    "update mailings indexed by mailings_user set held_reason = null,\n state='done'",
    "db\n.update(mailings)\n.set({ held_reason: sql`iif(a, b, c)`, state: 'done' })",
    'tx.update(mailings).set({ state })',
    'tx.update(mailings).set({ ...columns, finished_at })',
  ])
    t.ok(changesState(change, state), change);
  for (const other of [
    "UPDATE mailings SET triggered = (SELECT state = 1 FROM x), acknowledged_state = 'sending' WHERE state = 'done'",
    'UPDATE mailings_old SET state = 1',
    "SELECT state FROM mailings WHERE state = 'done'",
    "db.update(mailings).set({ held_reason: null }).where(eq(mailings.state, 'held'))",
    'db.update(senders).set({ state: 1 })',
  ])
    t.notOk(changesState(other, state), other);
});

/**
 * Returns true if a source adds a row to the table or sets the column, in SQL or with drizzle. An object that is spread into `set` counts,
 * because it may have the column.
 */
function changesState(text: string, { table, variable, column }: { table: string; variable: string; column: string }) {
  const name = `[\`"]?${table}\\b[\`"]?`;
  if (new RegExp(`\\bINSERT\\s+(?:OR\\s+\\w+\\s+)?INTO\\s+${name}|\\.insert\\(${variable}\\)`, 'i').test(text))
    return true;
  const updates = new RegExp(
    `\\bUPDATE\\s+(?:OR\\s+\\w+\\s+)?${name}(?:\\s+AS\\s+\\w+|\\s+INDEXED\\s+BY\\s+\\w+)?\\s+SET\\b`,
    'gi',
  );
  const isSet = new RegExp(`(?:^|,)\\s*[\`"]?${column}[\`"]?\\s*=`, 'i');
  for (const update of text.matchAll(updates)) {
    const [assignments = ''] = topLevel(text.slice(update.index + update[0].length)).split(
      /\b(?:WHERE|FROM|RETURNING)\b/i,
    );
    if (isSet.test(assignments)) return true;
  }
  const sets = new RegExp(`\\.update\\(${variable}\\)\\s*\\.set\\(\\{`, 'g');
  const isGiven = new RegExp(`(?:^|,)\\s*(?:${column}\\s*(?:[:,]|$)|\\.\\.\\.)`);
  for (const set of text.matchAll(sets)) if (isGiven.test(topLevel(text.slice(set.index + set[0].length)))) return true;
  return false;
}

/** The text up to where the bracket that it starts in is closed or its literal ends, without what is inside brackets of its own. */
function topLevel(text: string): string {
  let depth = 0;
  let found = '';
  for (const letter of text) {
    if (')}]'.includes(letter) && --depth < 0) break;
    if ('({['.includes(letter)) depth++;
    else if (depth === 0 && letter !== '}' && letter !== ')' && letter !== ']') found += letter;
  }
  return found;
}
