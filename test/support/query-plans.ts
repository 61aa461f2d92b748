/** The plans of the statements that run during a test: how SQLite goes about each of them. */
import Database from 'better-sqlite3';

export interface Planned {
  text: string;
  steps: string[];
}

/** The methods that run a statement. */
const RUNS = ['all', 'get', 'run', 'iterate'] as const;

/** Tables with a row, or more, for each person, mail or thing that happened. */
const GROWING =
  'addresses|archived_mails|audit_log|consent_log|contact_events|contact_job_items|contact_moves|contacts|deliveries|enrolment_log|enrolments|event_totals|events|feed_items|links|local_waits|mailing_hours|mailings|membership_changes|outbox|segment_leaves|segment_recipients|single_sends|steps|sunset_people|suppressions|transactional_mails|unsubscribers';

/** Steps that read all of a table, of an index or of one owner, in any statement or in those that have a text, and why they may. */
const BOUNDED: { step: RegExp; statement?: RegExp; reason: string }[] = [
  { step: /INDEX deliveries_sending$/, reason: 'an index of the mails that are being handed off' },
  { step: /^SCAN deliveries .* deliveries_queue$/, reason: 'a figure of /metrics is the size of this index' },
  { step: /INDEX (mailings_(unfinished|unacknowledged)|single_sends_running)$/, reason: 'what is under way' },
  { step: /INDEX single_sends_(due|held)$/, reason: 'what waits for its time or its owner' },
  { step: /^SCAN (m|membership_changes)$/, statement: /FROM membership_changes/, reason: 'the background empties it' },
  { step: /^SCAN outbox$/, reason: 'it has the newest 1 000 mails' },
  {
    step: /INDEX transactional_mails_(queue|sending)$/,
    reason: 'indexes of the mails that wait or are being handed off',
  },
  { step: /INDEX transactional_mails_keyed$/, reason: 'it has the keys of a day, a million at most' },
  { step: /^SCAN transactional_mails$/, statement: /ORDER BY id LIMIT 200\)/, reason: 'a part that has a limit' },
  { step: /^SCAN a$/, statement: /ORDER BY normalized_email LIMIT 1000\) a\b/, reason: 'a part that has a limit' },
  { step: /^SCAN d$/, statement: /ORDER BY opened_at DESC LIMIT 500\) d\b/, reason: 'a part that has a limit' },
  { step: /_id=\?\)$/, statement: /INDEXED BY mailings_verification/, reason: 'verification mails have one recipient' },
  {
    step: /^SCAN mailings$/,
    statement: /AS queued, .* FROM mailings ?$/,
    reason: 'a row for each mailing, for /metrics',
  },
  { step: /mailings_automation \(automation_id=\?\)$/, reason: 'a row for each revision of its mails' },
  { step: /enrolments_person \(automation_id=\?\)$/, reason: 'the report of an automation groups all its people' },
];

/**
 * Gives the plan of each statement that is prepared or runs while `work` does and `isWanted` says so. It is asked for with the first
 * values that the statement is given, since the plan of a LIKE or BETWEEN may depend on them.
 */
export async function planned(work: () => Promise<void>, isWanted = () => true): Promise<Planned[]> {
  const found = new Map<string, Planned & { isRun: boolean }>();
  const explain = ({ source, database }: Database.Statement, values: unknown[], isRun: boolean) => {
    // Without the pluses that a connection puts before parameters.
    const text = source
      .replace(/["\s]+/g, ' ')
      .replace(/\+(?=[?@])/g, '')
      .trim();
    const known = found.get(text);
    if (known !== undefined && (known.isRun || !isRun)) return;
    if (!/^(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(text) || !isWanted()) return;
    const steps = prepare.call(database, `EXPLAIN QUERY PLAN ${source}`).all(...values);
    found.set(text, { text, steps: steps.map((step) => String(Object(step).detail)), isRun });
  };
  const connection: { prepare(source: string): Database.Statement } = Database.prototype;
  const { prepare } = connection;
  connection.prepare = function (source) {
    const statement = prepare.call(this, source);
    explain(statement, noValues(source), false);
    return statement;
  };
  const statement: Record<(typeof RUNS)[number], (...values: unknown[]) => unknown> = Object.getPrototypeOf(
    new Database(':memory:').prepare('SELECT 1'),
  );
  const { all, get, run, iterate } = statement;
  for (const method of RUNS) {
    const original = statement[method];
    statement[method] = function (this: Database.Statement, ...values) {
      explain(this, values, true);
      return original.apply(this, values);
    };
  }
  await work().finally(() => {
    connection.prepare = prepare;
    Object.assign(statement, { all, get, run, iterate });
  });
  return [...found.values()];
}

/** NULL for each parameter of a statement. */
function noValues(source: string): unknown[] {
  const named = [...source.matchAll(/@(\w+)/g)].map(([, name]) => [name, null]);
  const positional = [...source.matchAll(/\?/g)].map(() => null);
  return named.length > 0 ? [...positional, Object.fromEntries(named)] : positional;
}

/** The steps that read a growing table from end to end. */
export function wholeReads(plan: Planned): string[] {
  return readsOf(plan, /^SCAN (\w+)/);
}

/**
 * The steps that read all that an account, a mailing, an automation or such has in a growing table, where the statement
 * sorts or groups.
 */
export function sortsOfAll(plan: Planned): string[] {
  if (!plan.steps.some((step) => step.startsWith('USE TEMP B-TREE'))) return [];
  return readsOf(plan, /^SEARCH (\w+) .*\(\w+_id=\?\)/).filter(
    (step) => !/\((address|contact|delivery)_id=\?\)/.test(step),
  );
}

/** The steps of this form, of tables that grow. A table the text does not name is a foreign key's, looked at only after a violation. */
function readsOf({ text, steps }: Planned, form: RegExp): string[] {
  return steps.filter((step) => {
    const [, name] = form.exec(step) ?? [];
    if (name === undefined) return false;
    const table = new RegExp(`\\b(${GROWING})( AS)? ${name}\\b|\\b(FROM|JOIN|UPDATE) (${name})\\b`, 'i').exec(text);
    if (!new RegExp(`^(${GROWING})$`).test(table?.[1] ?? table?.[4] ?? '')) return false;
    return !BOUNDED.some((bounded) => bounded.step.test(step) && (bounded.statement?.test(text) ?? true));
  });
}
