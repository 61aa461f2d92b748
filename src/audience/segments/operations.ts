/**
 * Operations for segments: parts of a contact type that rules keep up to date, the preview of rules before they are stored, and recipients.
 */

import { setImmediate } from 'node:timers/promises';
import { and, eq, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { finishHolds } from '../../campaigns/large-writes.ts';
import { ownedBy, ownedRecord, recordId } from '../../database/ownership.ts';
import { readRecord, recordObject } from '../../database/record-json.ts';
import { contacts, SINGLE_SEND_STATUS, segmentRecipients, segments } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { invalid, notFound } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import {
  choice,
  described,
  email as emailSchema,
  identifier,
  integer,
  line,
  listQuery,
  nullable,
  reference,
  said,
  softStamps,
  stamps,
  stringList,
  text,
} from '../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../http/requests/validation.ts';
import { type Context, listOperation, operation, recordOperation } from '../../operations/operation.ts';
import { holdCampaignsUsingTarget } from '../../senders/hold-campaigns.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { parseAddress } from '../contacts/addresses.ts';
import { hasContactType } from '../contacts/contacts.ts';
import { isErased, namesErased } from '../contacts/erased-addresses.ts';
import { listCustomFields } from '../fields/custom-fields.ts';
import { ContactFinder } from '../search/find-contacts.ts';
import { Pace } from '../search/pace.ts';
import { segmentProblem } from './broken-rules.ts';
import { countMailsRules, MAX_RULES, NOT_ARRIVED, namedFinder, parseRules, type RuleArrays } from './rules.ts';
import { addRecipient, createSegment, hasSegment, removeRecipient, restoreSegment, updateSegment } from './segments.ts';

/** The parameters for the rules of a segment. */
const ruleProperties = {
  contact_type_id: reference(),
  select_field: stringList({
    minItems: 1,
    maxItems: MAX_RULES,
    description:
      'Reserved or custom field names, created_at, opens and clicks (activity.…), and recorded events (event. and the name).',
  }),
  select_operator: stringList({ minItems: 1, maxItems: MAX_RULES, description: 'One operator for each field.' }),
  value: Type.Optional(
    stringList({
      maxItems: 3 * MAX_RULES,
      description: 'Operands; each operator takes as many as it needs, from left to right.',
    }),
  ),
  query_type: Type.Optional(
    Type.Unsafe<'and' | 'or' | ''>({
      type: 'string',
      enum: ['and', 'or', ''],
      description: 'How the rules are joined; empty: and.',
    }),
  ),
};

const Segment = Type.Object({
  id: integer(),
  user_id: integer(),
  contact_type_id: integer(),
  segment_name: Type.String(),
  select_field: Type.Array(Type.String(), { description: 'The field of each rule, in order.' }),
  select_operator: Type.Array(Type.String(), {
    description: 'The operator of each rule, in the order of select_field.',
  }),
  value: Type.Array(Type.String()),
  query_type: nullable(Type.String(), 'Whether all rules must match (and) or one of them (or); null means and.'),
  ...softStamps,
  segment_emails_count: integer({ description: 'The number of recipients of the segment.' }),
});
const Problem = nullable(
  said('Why the rules are not applied, because one of them needs a deleted field; null if they are applied.'),
);
const segmentProperties = { segment_name: line(), ...ruleProperties };
const ById = { segment_id: identifier('The segment.') };

export type Segment = Static<typeof Segment>;

/** The reasons in the rules are in English. */
const record = recordObject(Segment, segments, {
  select_field: sql`json(${segments.select_field})`,
  select_operator: sql`json(${segments.select_operator})`,
  value: sql`json(iif(instr(${segments.select_operator}, ${NOT_ARRIVED}) = 0, ${segments.value}, (
    SELECT json_group_array(iif(r.value ->> 'operator' = ${NOT_ARRIVED} AND o.key = 1, english(o.value), o.value) ORDER BY r.key, o.key)
    FROM json_each(${segments.rules}) r CROSS JOIN json_each(r.value, '$.operands') o)))`,
});
const from = sql`${segments}`;

export const listSegments = listOperation({
  name: 'List the segments',
  role: 'viewer',
  input: listQuery,
  as: 'segments',
  record: Segment,
  select: ({ accountId }, part) => ({ record, from, where: ownedBy(segments, accountId), id: segments.id, part }),
});

export const addSegment = operation({
  name: 'Add a segment',
  description:
    'The rules are read by position: the first field belongs to the first operator, and each operator takes as many values as it needs.',
  role: 'editor',
  input: Type.Object(segmentProperties),
  check: checkRules,
  async run({ db, clock, accountId, wake }, fields) {
    const id = await createSegment(db, clock, accountId, fields);
    wake();
    return { id };
  },
});

export const changeSegment = operation({
  name: 'Change a segment',
  role: 'editor',
  input: Type.Object({ ...ById, ...segmentProperties }),
  check: checkRules,
  async run({ db, clock, accountId, wake }, { segment_id, ...fields }) {
    const id = await updateSegment(db, clock, accountId, segment_id, fields);
    wake();
    return { id };
  },
});

export const readSegment = recordOperation({
  name: 'Read a segment',
  role: 'viewer',
  input: Type.Object(ById),
  as: 'segment',
  record: Segment,
  json: ({ db, accountId }, { segment_id: id }) => readRecord(db, record, from, ownedRecord(segments, id, accountId)),
});

export const readSegmentProblem = operation({
  name: 'Read why the rules of a segment are not applied (addition)',
  description:
    'Until the problem is gone the segment keeps its recipients, and single sends and automations to it are held.',
  role: 'viewer',
  input: Type.Object(ById),
  output: Type.Object({ problem: Problem }),
  run({ db, accountId }, { segment_id }) {
    const id = recordId(segment_id);
    if (!hasSegment(db, accountId, id)) throw notFound();
    return { problem: segmentProblem(db, id) };
  },
});

export const deleteSegment = operation({
  name: 'Delete a segment',
  description:
    'A queued single send that names the segment is no longer queued, a live automation that names it becomes a draft, and their reports say why. The confirmation is in `errors`, with the status success.',
  role: 'editor',
  input: Type.Object(ById),
  async run({ db, clock, accountId, wake }, { segment_id }) {
    const id = recordId(segment_id);
    const now = isoTimestamp(clock.now());
    inTransaction(db, (tx) => {
      const deleted = { deleted_at: now, recompute_after: null, check_at: null };
      const { changes } = tx
        .update(segments)
        .set(deleted)
        .where(ownedRecord(segments, id, accountId))
        .run();
      if (changes === 0) throw notFound();
      holdCampaignsUsingTarget(db, 'segments', id, now);
    });
    wake();
    await finishHolds(db);
  },
});

export const undeleteSegment = operation({
  name: 'Undo the deletion of a segment (addition)',
  description:
    'The segment gets back its rules and the contacts that were added or removed by hand. This is possible until `sendlark purge` removes the segment. Single sends and automations that the deletion stopped stay stopped.',
  role: 'editor',
  input: Type.Object(ById),
  async run({ db, clock, accountId, wake }, { segment_id }) {
    await restoreSegment(db, clock, accountId, recordId(segment_id));
    wake();
  },
});

const Match = Type.Object({ id: integer(), fullname: Type.String(), email: Type.String() });
const Matches = Type.Object({ count: integer(), contacts: Type.Array(Match), next: nullable(Type.String()) });
export type Matches = Static<typeof Matches>;

/** How long a request counts matching contacts. */
const COUNT_MS = 200;
/** The number of matching contacts that are listed. */
const MAX_MATCHES = 10;
/** The number of contacts in the first step if the rules check many mailings for each contact. */
const FEW_CANDIDATES = 10;
const COLUMNS = "c.id, trim(c.first_name || ' ' || c.last_name), c.email";

export const countMatches = operation({
  name: 'Count the contacts that rules match, without storing them (addition)',
  description:
    'Counts for a fifth of a second and lists the first ten contacts. If there are more contacts to check, `next` is not null: repeat the request with this value as `after`, and add up the counts.',
  role: 'viewer',
  input: Type.Object({
    ...ruleProperties,
    after: Type.Optional(text({ maxLength: 300, description: 'The value of `next` in the answer before.' })),
  }),
  output: Matches,
  check: checkRules,
  async run({ db, clock, accountId }, input): Promise<Matches> {
    const { contact_type_id: typeId, query_type, after } = input;
    const { rules } = parseRules(listCustomFields(db, accountId), input, namedFinder(db, accountId));
    const filter = { accountId, typeId, rules, queryType: query_type || null };
    const finder = new ContactFinder(db, filter, 'newest', isoTimestamp(clock.now()));
    const pace = countMailsRules(rules) > 0 ? new Pace(FEW_CANDIDATES) : new Pace();
    const contacts: Matches['contacts'] = [];
    let count = 0;
    let next: string | null = after || null;
    const isListed = next === null;
    for (const until = performance.now() + COUNT_MS; ; await setImmediate()) {
      // Other requests are answered after each step.
      const step = pace.step((candidates) => {
        if (!isListed || contacts.length === MAX_MATCHES) return finder.count(next, candidates);
        const page = finder.step(next, COLUMNS, MAX_MATCHES - contacts.length, candidates);
        for (const [id, fullname, email] of page.rows)
          contacts.push({ id: Number(id), fullname: String(fullname), email: String(email) });
        return { count: page.rows.length, next: page.next };
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
  kind: described(choice('single_send', 'automation_mail'), 'Whether a single send or an automation has the e-mail.'),
});
const Names = Type.Object({
  mails: Type.Array(Mail),
  automations: Type.Array(Type.Object(Named)),
  events: Type.Array(Type.String(), { description: 'The names of recorded events, the most recent first.' }),
});
export type Names = Static<typeof Names>;

/** The maximum number of single sends, automations and mails of automations that are listed, newest first. */
const MAX_LISTED = 200;
/** The number of newest single sends that are examined, because drafts among them are skipped. */
const MAX_EXAMINED = 1000;

const MAILS = `
  SELECT * FROM (
    SELECT utr, single_send_name AS name, subject, 'single_send' AS kind FROM (
      SELECT * FROM single_sends INDEXED BY single_sends_user WHERE user_id = @account ORDER BY id DESC LIMIT ${MAX_EXAMINED})
    WHERE status >= ${SINGLE_SEND_STATUS.running} LIMIT ${MAX_LISTED})
  UNION ALL SELECT * FROM (
    SELECT s.utr, a.automation_name AS name, s.subject, 'automation_mail' AS kind
    FROM automations a INDEXED BY automations_user CROSS JOIN automation_schedules s ON s.automation_id = a.id
    WHERE a.user_id = @account AND a.deleted_at IS NULL AND s.kind = 'mail' ORDER BY a.id DESC LIMIT ${MAX_LISTED})`;
const AUTOMATIONS = `
  SELECT utr, automation_name AS name FROM automations INDEXED BY automations_user
  WHERE user_id = @account AND deleted_at IS NULL ORDER BY id DESC LIMIT ${MAX_LISTED}`;
const EVENTS = `SELECT word FROM event_words WHERE user_id = @account AND events > 0 ORDER BY last_at DESC, id DESC LIMIT ${MAX_LISTED}`;

export const listNames = operation({
  name: 'List the e-mails, automations and events that rules can name, the newest first (addition)',
  description:
    'Up to 200 single sends that were sent, 200 e-mails of automations, 200 automations and 200 names of events. Rules can also name older ones; they name e-mails and automations by their utr.',
  role: 'viewer',
  input: Type.Object({}),
  output: Names,
  run: ({ db, accountId: account }) => ({
    mails: db.$client.prepare<[object], Names['mails'][number]>(MAILS).all({ account }),
    automations: db.$client.prepare<[object], Names['automations'][number]>(AUTOMATIONS).all({ account }),
    events: db.$client
      .prepare<[object], { word: string }>(EVENTS)
      .all({ account })
      .map(({ word }) => word),
  }),
});

/** Adds the field errors of a segment's contact type and rules. */
function checkRules(
  { db, accountId }: Context,
  input: RuleArrays & { contact_type_id?: number },
  errors: FieldErrorCollector,
): void {
  const { contact_type_id: typeId } = input;
  if (typeId !== undefined) errors.reference('contact_type_id', () => hasContactType(db, accountId, typeId));
  if (errors.has('value')) return;
  const { errors: faults } = parseRules(listCustomFields(db, accountId), input, namedFinder(db, accountId));
  for (const [field, text] of faults) errors.add(field, text);
  if (namesErased(db.$client, accountId, input.value ?? [])) errors.add('value', messages.erased('value'));
}

const Recipient = Type.Object({
  id: integer(),
  user_id: integer(),
  segment_id: integer(),
  contact_id: nullable(integer()),
  first_name: Type.String(),
  last_name: Type.String(),
  email: Type.String(),
  country: nullable(Type.String()),
  state: nullable(Type.String()),
  city: nullable(Type.String()),
  address_line1: nullable(Type.String()),
  ...stamps,
  fullname: Type.String(),
});
export type Recipient = Static<typeof Recipient>;

// If a recipient is a contact, the contact's values are used, not those entered when the recipient was added by hand.
const name = (column: 'first_name' | 'last_name' | 'email') =>
  sql`ifnull(${contacts[column]}, ${segmentRecipients[column]})`;
const recipient = recordObject(Recipient, segmentRecipients, {
  first_name: name('first_name'),
  last_name: name('last_name'),
  email: name('email'),
  country: sql`(SELECT name FROM countries WHERE id = ${contacts.country_id})`,
  state: sql`${contacts.state}`,
  city: sql`${contacts.city}`,
  address_line1: sql`${contacts.address_line1}`,
  fullname: sql`trim(${name('first_name')} || ' ' || ${name('last_name')})`,
});

export const listRecipients = listOperation({
  name: 'List the recipients of a segment',
  role: 'viewer',
  input: Type.Object({ segment_id: identifier('The segment.'), ...listQuery.properties }),
  as: 'contactEmails',
  record: Recipient,
  select({ db, accountId }, { segment_id, ...part }) {
    const id = recordId(segment_id);
    if (!hasSegment(db, accountId, id)) throw notFound('Record not found');
    return {
      record: recipient,
      from: sql`${segmentRecipients} INDEXED BY segment_recipients_listed LEFT JOIN ${contacts} ON ${contacts.id} = ${segmentRecipients.contact_id}`,
      where: and(eq(segmentRecipients.segment_id, id), sql`${segmentRecipients.is_removed} = 0`),
      id: segmentRecipients.id,
      part,
    };
  },
});

export const addRecipientByHand = operation({
  name: 'Add a recipient to a segment by hand',
  description: 'The address stays in the segment whether the rules match it or not.',
  role: 'editor',
  input: Type.Object({ segment_id: reference(), first_name: line(), last_name: line(), email: emailSchema() }),
  check({ db, accountId }, { segment_id, email }, errors) {
    if (segment_id !== undefined) errors.reference('segment_id', () => hasSegment(db, accountId, segment_id));
    if (isErased(db.$client, accountId, email)) errors.add('email', messages.erased('email'));
  },
  run({ db, clock, accountId }, { segment_id, first_name, last_name, email }) {
    const address = parseAddress(email);
    if (address === null) throw invalid('email', messages.email('email'));
    addRecipient(db, accountId, segment_id, { first_name, last_name, address }, isoTimestamp(clock.now()));
  },
});

export const removeRecipientByHand = operation({
  name: 'Remove a recipient from a segment',
  description: 'A removed recipient stays out, even if the rules match.',
  role: 'editor',
  input: Type.Object({ segment_recipient_id: identifier('The segment recipient.') }),
  run: ({ db, clock, accountId }, { segment_recipient_id: id }) =>
    removeRecipient(db, accountId, id, isoTimestamp(clock.now())),
});
