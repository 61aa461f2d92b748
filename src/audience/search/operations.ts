/** Operations that find contacts: search as you type over any number of contacts, filters, pages. */
import { setImmediate } from 'node:timers/promises';
import Type, { type Static } from 'typebox';
import type { Db } from '../../database/open.ts';
import { recordId } from '../../database/ownership.ts';
import { messages } from '../../errors/field-errors.ts';
import {
  choice,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  optionalIdentifier,
  stringList,
  text,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../http/requests/validation.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { type CustomField, listCustomFields } from '../fields/custom-fields.ts';
import { fieldValue } from '../segments/rule-sql.ts';
import { findRuleField, parseRules } from '../segments/rules.ts';
import { CONTACT_STATE, CONTACT_STATES, type ContactFilter } from './contact-filter.ts';
import { CONTACT_ORDERS, ContactFinder } from './find-contacts.ts';
import { Pace } from './pace.ts';

const MAX_FIELDS = 20;
const MAX_ROWS = 200;
const DEFAULT_ROWS = 50;

/** The parameters of a filter for contacts, used by this search and by bulk actions on all contacts that match. */
export const contactFilterProperties = {
  search: Type.Optional(
    line({ description: 'Parts of names and e-mail addresses; one or two letters find the beginnings of words.' }),
  ),
  contact_type_id: optionalIdentifier('Addition: only contacts of this type.'),
  segment_id: optionalIdentifier('Addition: only contacts in this segment.'),
  mail_state: Type.Optional(choice(...CONTACT_STATES)),
  field: Type.Optional(line({ description: 'Only contacts whose field of this name is `value`.' })),
  operator: Type.Optional(
    line({ description: 'How `field` is compared, as in the rules of a segment; by default: is.' }),
  ),
  value: Type.Optional(
    stringList({ maxItems: 2, description: 'What `field` is compared with; two values for a range.' }),
  ),
};
type FilterInput = Static<ReturnType<typeof Type.Object<typeof contactFilterProperties>>>;

const FoundContact = Type.Object({
  id: integer(),
  contact_type_id: integer(),
  contact_type_name: Type.String({ description: 'Name of the contact type.' }),
  first_name: Type.String(),
  last_name: Type.String(),
  fullname: Type.String(),
  email: Type.String(),
  mail_state: choice(...CONTACT_STATES),
  created_at: isoTimestampSchema(),
  updated_at: isoTimestampSchema(),
  fields: Type.Record(Type.String(), nullable(Type.String()), {
    description: 'Values of the fields that `fields` names; null where the contact has no value.',
  }),
});
export type FoundContact = Static<typeof FoundContact>;

const FoundContacts = Type.Object({
  contacts: Type.Array(FoundContact),
  next: nullable(Type.String()),
  total: nullable(integer(), 'The number of contacts that match; null on all pages but the first.'),
  is_total_exact: zeroOrOne('1: `total` is exact; 0: at least `total` contacts match.'),
  is_indexing: zeroOrOne('1: contacts may be missing, because the index of the search is still being written.'),
});
export type FoundContacts = Static<typeof FoundContacts>;

/** Adds the field errors of the filter's `field`, `operator` and `value`. */
export function checkContactFilter(
  { db, accountId }: Context,
  { field, operator, value }: FilterInput,
  errors: FieldErrorCollector,
): void {
  if (field === undefined || field === '') return;
  // The rule parser has other names for these parameters than this operation.
  const inputNames: Record<string, string> = { select_field: 'field', select_operator: 'operator' };
  for (const [name] of parseFieldRule(listCustomFields(db, accountId), field, operator, value).errors) {
    const input = inputNames[name] ?? name;
    const isMissing = input === 'value' && (value ?? []).length === 0;
    errors.add(input, isMissing ? messages.required(input) : messages.selected(input));
  }
}

function parseFieldRule(
  fields: readonly CustomField[],
  field: string,
  operator: string | undefined,
  value: string[] | undefined,
) {
  const equals = findRuleField(fields, field)?.type === 'datetime-local' ? 'is on' : 'is';
  return parseRules(fields, {
    select_field: [field],
    select_operator: [operator || equals],
    ...(value !== undefined && { value }),
  });
}

/** Returns the filter for checked parameters. */
export function contactFilter({ db, accountId }: Context, input: FilterInput): ContactFilter {
  const { search, contact_type_id, segment_id, mail_state, field, operator, value } = input;
  const rules = field ? parseFieldRule(listCustomFields(db, accountId), field, operator, value).rules : [];
  return {
    accountId,
    search,
    typeId: contact_type_id === undefined ? undefined : recordId(contact_type_id),
    segmentId: segment_id === undefined ? undefined : recordId(segment_id),
    state: mail_state,
    rules,
  };
}

/** After this time a page is answered even if it is not full. */
const PAGE_MS = 150;
/** The same time for the first page, which is answered sooner, because a user who types waits for it. */
const FIRST_PAGE_MS = 15;
/** How long `findContacts` counts the contacts after the first page; the first step is taken in any case. */
const FIRST_COUNT_MS = 20;

export const findContacts = operation({
  name: 'Find contacts by parts of names and addresses, and by filters (addition)',
  role: 'viewer',
  input: Type.Object({
    ...contactFilterProperties,
    order: Type.Optional(choice(...CONTACT_ORDERS)),
    fields: Type.Optional(stringList({ maxItems: MAX_FIELDS, description: 'Names of further fields in the answer.' })),
    limit: Type.Optional(
      integer({
        minimum: 1,
        maximum: MAX_ROWS,
        description: `The maximum number of contacts; ${DEFAULT_ROWS} if absent.`,
      }),
    ),
    after: Type.Optional(text({ maxLength: 300, description: 'The value of `next` in the page before.' })),
  }),
  output: FoundContacts,
  check(context, input, errors) {
    checkContactFilter(context, input, errors);
    const known = listCustomFields(context.db, context.accountId);
    if (input.fields?.some((name) => findRuleField(known, name) === null))
      errors.add('fields', messages.selected('fields'));
  },
  async run(context, input): Promise<FoundContacts> {
    const { db, accountId, clock } = context;
    const { order = 'newest', limit = DEFAULT_ROWS, after, fields = [] } = input;
    const filter = contactFilter(context, input);
    const finder = new ContactFinder(db, filter, order, isoTimestamp(clock.now()));
    const known = listCustomFields(db, accountId);
    const shown = [...new Set(fields)].flatMap((name) => findRuleField(known, name) ?? []);
    const columns = [...COLUMNS, ...shown.map(fieldValue)].join(', ');
    const contacts: FoundContact[] = [];
    const pace = new Pace();
    let next: string | null = after || null;
    for (const until = performance.now() + (after ? PAGE_MS : FIRST_PAGE_MS); ; await setImmediate()) {
      // Other requests are answered after each step.
      const step = pace.step((candidates) => finder.step(next, columns, limit - contacts.length, candidates));
      contacts.push(...step.rows.map((row) => foundContact(row, shown)));
      next = step.next;
      if (next === null || contacts.length === limit || performance.now() > until) break;
    }
    const total = after
      ? null
      : (findStoredTotal(db, filter) ?? (await continueCounting(finder, pace, contacts.length, next)));
    return {
      contacts,
      next,
      total: total?.count ?? null,
      is_total_exact: total?.isExact ? 1 : 0,
      is_indexing: finder.isIndexing ? 1 : 0,
    };
  },
});

/** How long one request of `countContacts` counts. Other requests are answered after each step. */
const COUNT_REQUEST_MS = 200;

/**
 * The contacts screen calls this after `findContacts`, which counts only for a few milliseconds, and repeats it until the
 * number is exact.
 */
export const countContacts = operation({
  name: 'Count the contacts that a filter finds',
  role: 'viewer',
  input: Type.Object({ ...contactFilterProperties, after: Type.Optional(text({ maxLength: 300 })) }),
  check: checkContactFilter,
  async run(context, input): Promise<{ count: number; next: string | null }> {
    const filter = contactFilter(context, input);
    const finder = new ContactFinder(context.db, filter, 'newest', isoTimestamp(context.clock.now()));
    const pace = new Pace();
    let count = 0;
    let next: string | null = input.after || null;
    for (const until = performance.now() + COUNT_REQUEST_MS; ; await setImmediate()) {
      const step = pace.step((candidates) => finder.count(next, candidates));
      count += step.count;
      next = step.next;
      if (next === null || performance.now() > until) return { count, next };
    }
  },
});

/** The columns of a contact `c` as SQL. `foundContact` reads their values in this order. */
const COLUMNS = [
  'c.id',
  'c.contact_type_id',
  '(SELECT name FROM contact_types WHERE id = c.contact_type_id)',
  'c.first_name',
  'c.last_name',
  'c.email',
  CONTACT_STATE,
  'c.created_at',
  'c.updated_at',
];

function foundContact(row: readonly unknown[], shown: readonly { field: string }[]): FoundContact {
  const [id, typeId, typeName, first, last, email, state, created, updated, ...values] = row;
  return {
    id: Number(id),
    contact_type_id: Number(typeId),
    contact_type_name: String(typeName),
    first_name: String(first),
    last_name: String(last),
    fullname: `${first} ${last}`.trim(),
    email: String(email),
    mail_state: CONTACT_STATES.find((name) => name === state) ?? 'mailable',
    created_at: String(created),
    updated_at: String(updated),
    fields: Object.fromEntries(shown.map(({ field }, at) => [field, values[at] ? String(values[at]) : null])),
  };
}

interface Total {
  count: number;
  isExact: boolean;
}

/** Returns the stored number of contacts, which exists for the account and for each contact type. Null for any other filter. */
function findStoredTotal(db: Db, filter: ContactFilter): Total | null {
  if (filter.search || filter.segmentId !== undefined || filter.state || filter.rules?.length) return null;
  const count = db.$client
    .prepare<unknown[], number>(
      `SELECT ifnull(sum(contacts_count), 0) FROM contact_types
       WHERE user_id = @account AND deleted_at IS NULL AND (@type IS NULL OR id = @type)`,
    )
    .pluck()
    .get({ account: filter.accountId, type: filter.typeId ?? null });
  return { count: count ?? 0, isExact: true };
}

/** Counts the contacts after a page, for a short time. Other requests are answered after each step. */
async function continueCounting(
  finder: ContactFinder,
  pace: Pace,
  countedBefore: number,
  from: string | null,
): Promise<Total> {
  let count = countedBefore;
  let next = from;
  for (const until = performance.now() + FIRST_COUNT_MS; next !== null; await setImmediate()) {
    const place: string = next;
    const step = pace.step((candidates) => finder.count(place, candidates));
    count += step.count;
    next = step.next;
    if (performance.now() > until) break;
  }
  return { count, isExact: next === null };
}
