/** The operation behind the command menu: finds campaigns, contacts, lists and other records of an account by words. */
import Type, { type Static } from 'typebox';
import { ContactFinder } from '../../audience/search/find-contacts.ts';
import { fold } from '../../database/functions/fold.ts';
import { choice, line } from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';

/** How many records of each kind are found at most. */
const MAX_OF_KIND = 5;
/** How many of the newest records of each kind are compared at most. */
const MAX_COMPARED = 500;
/** How long contacts are looked for, and how many are compared in a step, which takes about half a millisecond. */
const CONTACTS_MS = 3;
const CANDIDATES = 100;

/** The kinds of records that have a name, with the SQL of their newest ones: key, name and what else is searched. */
const NAMED = {
  campaign: `SELECT utr AS key, single_send_name AS name, subject AS more
    FROM single_sends INDEXED BY single_sends_user WHERE user_id = @account ORDER BY id DESC`,
  automation: `SELECT utr AS key, automation_name AS name, '' AS more
    FROM automations INDEXED BY automations_user WHERE user_id = @account AND deleted_at IS NULL ORDER BY id DESC`,
  list: `SELECT id AS key, name, '' AS more
    FROM contact_types INDEXED BY contact_types_user WHERE user_id = @account AND deleted_at IS NULL ORDER BY id DESC`,
  segment: `SELECT id AS key, segment_name AS name, '' AS more
    FROM segments INDEXED BY segments_user WHERE user_id = @account AND deleted_at IS NULL ORDER BY id DESC`,
  template: `SELECT id AS key, template_name AS name, '' AS more
    FROM own_templates INDEXED BY own_templates_user WHERE user_id = @account ORDER BY id DESC`,
  form: `SELECT id AS key, name, '' AS more
    FROM forms INDEXED BY forms_user WHERE user_id = @account ORDER BY id DESC`,
} as const;
type NamedKind = keyof typeof NAMED;
const NAMED_KINDS = Object.keys(NAMED) as NamedKind[];

const FoundRecord = Type.Object({
  kind: choice(...NAMED_KINDS, 'contact'),
  /** The `utr` of a campaign or automation, the id of any other record. */
  key: Type.String(),
  /** The name; of a contact without one, its address. */
  name: Type.String(),
  /** The address of a contact with a name; otherwise empty. */
  detail: Type.String(),
});
export type FoundRecord = Static<typeof FoundRecord>;

/** SQL: the records whose name or other text has all words. Records without words to look for are the newest. */
const FIND_NAMED = NAMED_KINDS.map(
  (
    kind,
  ) => `SELECT * FROM (SELECT '${kind}' AS kind, CAST(key AS TEXT) AS key, name, '' AS detail FROM (${NAMED[kind]} LIMIT ${MAX_COMPARED})
    WHERE NOT EXISTS (SELECT 1 FROM json_each(@words) w WHERE instr(fold(name || char(10) || more), w.value) = 0) LIMIT @most)`,
).join(' UNION ALL ');

/**
 * Used by the command menu. Compares the newest 500 records of each kind and looks for contacts for 3 milliseconds, so
 * that it can be asked at each keystroke. Without a text it gives the newest campaigns only.
 */
export const findRecords = operation({
  name: 'Find records by words of their names',
  role: 'viewer',
  input: Type.Object({ text: Type.Optional(line()) }),
  run(context, { text = '' }): FoundRecord[] {
    const words = wordsOf(text);
    const named = context.db.$client
      .prepare<Record<string, unknown>, FoundRecord>(FIND_NAMED)
      .all({ account: context.accountId, words: JSON.stringify(words), most: MAX_OF_KIND });
    if (words.length === 0) return named.filter(({ kind }) => kind === 'campaign');
    return [...named, ...contactsWith(context, text)];
  },
});

/** The words of a text in the form in which they are compared. */
export function wordsOf(text: string): string[] {
  return fold(text).split(/\s+/).filter(Boolean);
}

/** The newest contacts with these words that are found in the time for it. */
function contactsWith({ db, accountId, clock }: Context, search: string): FoundRecord[] {
  const until = performance.now() + CONTACTS_MS;
  const finder = new ContactFinder(db, { accountId, search }, 'newest', isoTimestamp(clock.now()));
  const records: FoundRecord[] = [];
  let next: string | null = null;
  do {
    const columns = 'c.id, c.first_name, c.last_name, c.email';
    const step = finder.step(next, columns, MAX_OF_KIND - records.length, CANDIDATES);
    for (const [id, first, last, email] of step.rows) {
      const name = `${first} ${last}`.trim();
      records.push({ kind: 'contact', key: String(id), name: name || String(email), detail: name && String(email) });
    }
    next = step.next;
  } while (next !== null && records.length < MAX_OF_KIND && performance.now() < until);
  return records;
}
