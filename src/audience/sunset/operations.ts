/**
 * Operations for sunset, an account's rule about contacts that have been inactive for long. All of them are additions to the contract.
 */

import { setImmediate } from 'node:timers/promises';
import { and, isNull, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { ownedBy, recordId } from '../../database/ownership.ts';
import { recordObject } from '../../database/record-json.ts';
import { addresses, SUNSET_ACTIONS, sunsetPeople } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { invalid, notFound } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import {
  addressListQuery,
  choice,
  flag,
  identifier,
  integer,
  isoTimestampSchema,
  nullable,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import { type Context, listOperation, operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { auditBy } from '../../users/audit.ts';
import { isAddress } from '../contacts/address-rows.ts';
import { Pace } from '../search/pace.ts';
import { InactiveContacts } from './find-inactive.ts';
import { liftOne, requestLiftAll } from './lift.ts';
import {
  cutoffOf,
  hasTarget,
  MAX_LEAST_MAILS,
  MAX_SUNSET_MONTHS,
  readRule,
  readSunsetState,
  type SunsetRule,
  saveRule,
} from './rule.ts';

/** How long a request counts inactive contacts. */
const PREVIEW_MS = 200;
/** The number of inactive contacts that the preview lists. */
const MAX_SHOWN = 10;

const months = () =>
  integer({
    minimum: 1,
    maximum: MAX_SUNSET_MONTHS,
    description: 'A contact is inactive after this number of months without an open or click.',
  });
const leastMails = () =>
  integer({
    minimum: 1,
    maximum: MAX_LEAST_MAILS,
    description:
      'An inactive contact also got at least this number of e-mails in that time, counting only e-mails that at least one contact opened or clicked.',
  });
const ruleProperties = {
  months: months(),
  least_mails: leastMails(),
  action: {
    ...choice(...SUNSET_ACTIONS),
    description:
      'What happens to inactive contacts. stop: they get no campaigns until they act again; segment: they are added to a segment; move: they are moved to a contact type.',
  },
  segment_id: identifier('The segment to which the action `segment` adds the contacts.'),
  contact_type_id: identifier('The contact type to which the action `move` moves the contacts.'),
};

const Sunset = Type.Object(
  {
    is_on: zeroOrOne('1: the rule is applied each day.'),
    months: months(),
    least_mails: leastMails(),
    action: ruleProperties.action,
    segment_id: nullable(integer()),
    contact_type_id: nullable(integer()),
    is_target_missing: zeroOrOne('1: the segment or contact type of the rule was deleted, so the rule does nothing.'),
    stopped: integer({ description: 'The number of contacts who get no campaigns because of the rule.' }),
    is_working: zeroOrOne('1: contacts are being checked or reactivated at the moment.'),
    days: Type.Array(
      Type.Object({
        day: Type.String({ description: 'YYYY-MM-DD, UTC.' }),
        stopped: integer({ description: 'The number of contacts that were stopped.' }),
        moved: integer({ description: 'The number of contacts that were added to the segment or moved.' }),
        lifted: integer({ description: 'The number of stopped contacts who get mail again.' }),
      }),
      { description: 'What the rule did: the newest 30 days on which something happened, the newest first.' },
    ),
  },
  { description: 'The rule.' },
);
const Preview = Type.Object({
  count: integer(),
  contacts: Type.Array(Type.Object({ id: integer(), fullname: Type.String(), email: Type.String() })),
  next_after_id: nullable(integer(), 'The `after_id` with which the next request continues; null at the end.'),
});
const Person = Type.Object({
  id: integer(),
  email_address: Type.String(),
  action: ruleProperties.action,
  created_at: isoTimestampSchema(),
});
const record = recordObject(Person, sunsetPeople, { email_address: sql`${addresses.normalized_email}` });

export type Sunset = Static<typeof Sunset>;
export type SunsetPreview = Static<typeof Preview>;

export const readSunset = operation({
  name: 'Read the rule about inactive contacts, and what it did (addition)',
  role: 'viewer',
  input: Type.Object({}),
  output: Type.Object({ sunset: Sunset }),
  run({ db, accountId }): { sunset: Sunset } {
    const rule = readRule(db.$client, accountId);
    const is_target_missing = hasTarget(db.$client, accountId, rule) ? 0 : 1;
    return { sunset: { ...rule, is_target_missing, ...readSunsetState(db.$client, accountId) } };
  },
});

export const saveSunset = operation({
  name: 'Change the rule about inactive contacts (addition)',
  description:
    'A rule that is switched on is applied at once and then each day. A rule that is switched off stops no more contacts; those that it has stopped get no campaigns until they open or click, or are reactivated.',
  role: 'owner',
  input: Type.Object({ is_on: flag('1: the rule is applied each day; 0: it is not.'), ...ruleProperties }),
  run(context, input) {
    const { db, accountId } = context;
    const rule = { is_on: input.is_on, ...requireRule(context, input, input.is_on === 0) };
    inTransaction(db, () => {
      saveRule(db, accountId, rule);
      auditBy(context, rule.is_on === 1 ? 'sunset_on' : 'sunset_off');
    });
  },
});

export const previewSunset = operation({
  name: 'Count the contacts to whom a rule about inactive contacts would apply now (addition)',
  description:
    'Counts for a fifth of a second and lists the first ten contacts. If there are more contacts to check, `next_after_id` is not null: repeat the request with this value as `after_id`, and add up the counts.',
  role: 'viewer',
  input: Type.Object({
    ...ruleProperties,
    after_id: Type.Optional(integer({ description: 'The value of `next_after_id` in the answer before.' })),
  }),
  output: Preview,
  async run(context, input): Promise<SunsetPreview> {
    const { db, clock, accountId } = context;
    const rule = { is_on: 0 as const, ...requireRule(context, input) };
    const inactive = new InactiveContacts(db.$client, accountId, rule, cutoffOf(clock.now(), rule.months));
    const pace = new Pace();
    const ids: number[] = [];
    let [count, next] = [0, input.after_id ?? 0];
    for (const until = performance.now() + PREVIEW_MS; ; await setImmediate()) {
      const { contacts, last } = pace.step((rows) => inactive.step(next, rows));
      count += contacts.length;
      ids.push(...contacts.slice(0, MAX_SHOWN - ids.length));
      const isOver = last === null || performance.now() > until;
      if (isOver) return { count, contacts: namesOf(context, ids), next_after_id: last };
      next = last;
    }
  },
});

export const listInactive = listOperation({
  name: 'List the contacts to whom the rule about inactive contacts was applied and who have not acted since (addition)',
  role: 'viewer',
  input: addressListQuery,
  as: 'people',
  record: Person,
  select: ({ accountId }, { email, ...part }) => ({
    record,
    from: sql`${sunsetPeople} CROSS JOIN ${addresses} ON ${addresses.id} = ${sunsetPeople.address_id}`,
    where: and(
      ownedBy(sunsetPeople, accountId),
      isNull(sunsetPeople.lifted_at),
      isAddress(sunsetPeople.address_id, accountId, email),
    ),
    id: sunsetPeople.id,
    part,
  }),
});

export const liftInactive = operation({
  name: 'Reactivate a contact that the rule about inactive contacts stopped (addition)',
  description: 'The rule then counts the contact as active at this time.',
  role: 'editor',
  input: Type.Object({ id: identifier('The entry of the list of inactive contacts.') }),
  run({ db, clock, accountId }, { id }) {
    if (!liftOne(db.$client, accountId, recordId(id), isoTimestamp(clock.now()))) throw notFound();
  },
});

export const liftAllInactive = operation({
  name: 'Reactivate all contacts that the rule about inactive contacts stopped (addition)',
  description: 'The contacts are reactivated within seconds. The rule then counts them as active at this time.',
  role: 'owner',
  input: Type.Object({}),
  run(context) {
    const { db, accountId } = context;
    inTransaction(db, () => {
      requestLiftAll(db.$client, accountId);
      auditBy(context, 'sunset_lifted');
    });
  },
});

/**
 * Returns the requested rule, with only the target that its action needs. Throws 422 if the account does not have a given
 * target. A rule that is switched off may keep a deleted target.
 */
function requireRule(
  { db, accountId }: Context,
  input: Pick<SunsetRule, 'months' | 'least_mails' | 'action'> & { segment_id?: unknown; contact_type_id?: unknown },
  mayKeepTarget = false,
): Omit<SunsetRule, 'is_on'> {
  const { months, least_mails, action } = input;
  const segment_id = action === 'segment' ? recordId(input.segment_id) : null;
  const contact_type_id = action === 'move' ? recordId(input.contact_type_id) : null;
  // A target that the action does not use must exist nevertheless, as in other requests.
  for (const [field, kind] of [
    ['segment_id', 'segment'],
    ['contact_type_id', 'move'],
  ] as const) {
    if (kind !== action && (input[field] ?? '') === '') continue;
    const id = recordId(input[field]);
    if (mayKeepTarget && id === readRule(db.$client, accountId)[field]) continue;
    if (!hasTarget(db.$client, accountId, { action: kind, segment_id: id, contact_type_id: id }))
      throw invalid(field, messages.selected(field));
  }
  return { months, least_mails, action, segment_id, contact_type_id };
}

function namesOf({ db }: Context, ids: readonly number[]): SunsetPreview['contacts'] {
  return db.$client
    .prepare<[string], SunsetPreview['contacts'][number]>(
      "SELECT id, trim(first_name || ' ' || last_name) AS fullname, email FROM contacts WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
    )
    .all(JSON.stringify(ids));
}
