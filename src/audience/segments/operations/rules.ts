/** The rules of a segment: their parameters and check, whom they match before they are stored, and the mails that they can name. */
import { setImmediate } from 'node:timers/promises';
import Type, { type Static } from 'typebox';
import { prepared } from '../../../database/prepared.ts';
import { SINGLE_SEND_STATUS } from '../../../database/schema/index.ts';
import { messages } from '../../../errors/field-errors.ts';
import { choice, integer, nullable, reference, stringList, text } from '../../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../../http/requests/validation.ts';
import { type Context, operation } from '../../../operations/operation.ts';
import { isoTimestamp } from '../../../time/clock.ts';
import { listCustomFields } from '../../contacts/contact-fields.ts';
import { hasContactType } from '../../contacts/contacts.ts';
import { namesErased } from '../../contacts/erased.ts';
import { ContactFinder } from '../../search/find-contacts.ts';
import { Pace } from '../../search/pace.ts';
import { countMailsRules, namedFinder } from '../activity-rules.ts';
import { type GivenRules, MAX_RULES, parseRules } from '../rules.ts';

/** The parameters that describe the rules of a segment. */
export const ruleProperties = {
  contact_type_id: reference(),
  select_field: stringList({
    minItems: 1,
    maxItems: MAX_RULES,
    description: 'Reserved or custom field names, created_at, and what people did with mails: activity.….',
  }),
  select_operator: stringList({ minItems: 1, maxItems: MAX_RULES, description: 'One operator for each field.' }),
  value: Type.Optional(
    stringList({ maxItems: 2 * MAX_RULES, description: 'Operands; each operator takes its own, left to right.' }),
  ),
  query_type: Type.Optional(
    Type.Unsafe<'and' | 'or' | ''>({ type: 'string', enum: ['and', 'or', ''], description: 'Empty: and.' }),
  ),
};

const Match = Type.Object({ id: integer(), fullname: Type.String(), email: Type.String() });
const Matches = Type.Object({ count: integer(), contacts: Type.Array(Match), next: nullable(Type.String()) });
export type Matches = Static<typeof Matches>;

/** How long a request counts. */
const COUNT_MS = 200;
const SHOWN = 10;
/** Contacts that the first step looks at where rules look at many mailings for each. */
const FEW = 10;
const COLUMNS = "c.id, trim(c.first_name || ' ' || c.last_name), c.email";

export const countMatches = operation({
  name: 'Count the contacts that rules match, without storing them (addition)',
  description:
    'Counts for a fifth of a second and answers the first ten. Where contacts are left to look at, next is where to go on: ask again with it as after, and add up the counts.',
  role: 'viewer',
  input: Type.Object({
    ...ruleProperties,
    after: Type.Optional(text({ maxLength: 300, description: '`next` of the answer before.' })),
  }),
  output: Matches,
  check: checkRules,
  async run({ db, clock, accountId }, given): Promise<Matches> {
    const { contact_type_id: typeId, query_type, after } = given;
    const { rules } = parseRules(listCustomFields(db, accountId), given, namedFinder(db, accountId));
    const filter = { accountId, typeId, rules, queryType: query_type || null };
    const finder = new ContactFinder(db, filter, 'newest', isoTimestamp(clock.now()));
    const pace = countMailsRules(rules) > 0 ? new Pace(FEW) : new Pace();
    const contacts: Matches['contacts'] = [];
    let count = 0;
    let next: string | null = after || null;
    const isListed = next === null;
    for (const until = performance.now() + COUNT_MS; ; await setImmediate()) {
      // After each step other requests are served.
      const step = pace.step((candidates) => {
        if (!isListed || contacts.length === SHOWN) return finder.count(next, candidates);
        const found = finder.step(next, COLUMNS, SHOWN - contacts.length, candidates);
        for (const [id, fullname, email] of found.rows)
          contacts.push({ id: Number(id), fullname: String(fullname), email: String(email) });
        return { count: found.rows.length, next: found.next };
      });
      count += step.count;
      next = step.next;
      if (next === null || performance.now() > until) break;
    }
    return { count, contacts, next };
  },
});

const Named = {
  utr: Type.String(),
  name: Type.String({ description: 'The name of the single send or automation.' }),
};
const Mail = Type.Object({
  ...Named,
  subject: Type.String(),
  kind: choice('single_send', 'automation_mail'),
});
const Names = Type.Object({ mails: Type.Array(Mail), automations: Type.Array(Type.Object(Named)) });
export type Names = Static<typeof Names>;

/** The newest so many single sends, automations and mails of automations are listed. */
const LISTED = 200;
/** How many of the newest single sends are looked at, since drafts are among them. */
const EXAMINED = 1000;

const MAILS = `
  SELECT * FROM (
    SELECT utr, single_send_name AS name, subject, 'single_send' AS kind FROM (
      SELECT * FROM single_sends INDEXED BY single_sends_user WHERE user_id = @account ORDER BY id DESC LIMIT ${EXAMINED})
    WHERE status >= ${SINGLE_SEND_STATUS.running} LIMIT ${LISTED})
  UNION ALL SELECT * FROM (
    SELECT s.utr, a.automation_name AS name, s.subject, 'automation_mail' AS kind
    FROM automations a INDEXED BY automations_user CROSS JOIN automation_schedules s ON s.automation_id = a.id
    WHERE a.user_id = @account AND a.deleted_at IS NULL ORDER BY a.id DESC LIMIT ${LISTED})`;
const AUTOMATIONS = `
  SELECT utr, automation_name AS name FROM automations INDEXED BY automations_user
  WHERE user_id = @account AND deleted_at IS NULL ORDER BY id DESC LIMIT ${LISTED}`;

export const listNames = operation({
  name: 'List the mails and automations that rules can name, the newest first (addition)',
  description:
    'Up to 200 single sends that were sent, 200 mails of automations and 200 automations. Older ones can be named too, by their utr.',
  role: 'viewer',
  input: Type.Object({}),
  output: Names,
  run: ({ db, accountId: account }) => ({
    mails: prepared<[object], Names['mails'][number]>(db.$client, MAILS).all({ account }),
    automations: prepared<[object], Names['automations'][number]>(db.$client, AUTOMATIONS).all({ account }),
  }),
});

/** Adds the errors of a segment's contact type and rules. */
export function checkRules(
  { db, accountId }: Context,
  given: GivenRules & { contact_type_id?: number },
  errors: FieldErrorCollector,
): void {
  const { contact_type_id: typeId } = given;
  if (typeId !== undefined) errors.reference('contact_type_id', () => hasContactType(db, accountId, typeId));
  if (errors.has('value')) return;
  const { errors: found } = parseRules(listCustomFields(db, accountId), given, namedFinder(db, accountId));
  for (const [field, text] of found) errors.add(field, text);
  if (namesErased(db.$client, accountId, given.value ?? [])) errors.add('value', messages.erased('value'));
}
