/** The operation behind the command menu: finds campaigns, contacts, lists and other records of an account by words. */
import Type, { type Static } from 'typebox';
import { ContactFinder } from '../../audience/search/find-contacts.ts';
import { fold } from '../../database/functions/fold.ts';
import { choice, line } from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';

/** The maximum number of records of each kind that are found. */
const MAX_OF_KIND = 5;
/** The number of the newest records of each kind whose names are compared. */
const MAX_COMPARED = 500;
/** The time in milliseconds for which contacts are looked for. */
const CONTACTS_MS = 3;
/** The number of contacts who are compared in one step, which takes about half a millisecond. */
const CONTACTS_AT_ONCE = 100;

/** SQL for each kind of record with a name: the newest records, with their key, their name, and further text that is searched (`more`). */
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
  /** The name of the record; if a contact has no name, its address. */
  name: Type.String(),
  /** The address of a contact with a name; otherwise empty. */
  detail: Type.String(),
});
export type FoundRecord = Static<typeof FoundRecord>;

/** SQL: the newest records whose name and other text contain all words. If there are no words, all records match. */
const FIND_NAMED = NAMED_KINDS.map(
  (
    kind,
  ) => `SELECT * FROM (SELECT '${kind}' AS kind, CAST(key AS TEXT) AS key, name, '' AS detail FROM (${NAMED[kind]} LIMIT ${MAX_COMPARED})
    WHERE NOT EXISTS (SELECT 1 FROM json_each(@words) w WHERE instr(fold(name || char(10) || more), w.value) = 0) LIMIT @most)`,
).join(' UNION ALL ');

/**
 * Used by the command menu at each keystroke, so it compares only the newest records of each kind, and looks for contacts only for
 * `CONTACTS_MS`. If the text is empty, returns only the newest campaigns.
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

/** Returns the words of a text in the form in which they are compared. */
export function wordsOf(text: string): string[] {
  return fold(text).split(/\s+/).filter(Boolean);
}

/** Returns the newest contacts with these words, as many as are found within `CONTACTS_MS`. */
function contactsWith({ db, accountId, clock }: Context, search: string): FoundRecord[] {
  const until = performance.now() + CONTACTS_MS;
  const finder = new ContactFinder(db, { accountId, search }, 'newest', isoTimestamp(clock.now()));
  const records: FoundRecord[] = [];
  let next: string | null = null;
  do {
    const columns = 'c.id, c.first_name, c.last_name, c.email';
    const step = finder.step(next, columns, MAX_OF_KIND - records.length, CONTACTS_AT_ONCE);
    for (const [id, first, last, email] of step.rows) {
      const name = `${first} ${last}`.trim();
      records.push({ kind: 'contact', key: String(id), name: name || String(email), detail: name && String(email) });
    }
    next = step.next;
  } while (next !== null && records.length < MAX_OF_KIND && performance.now() < until);
  return records;
}
