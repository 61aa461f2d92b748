/** Operations that let contacts enter an automation, whatever its trigger is: some contacts, or all who are in its target. */
import type { Database } from 'better-sqlite3';
import Type, { type Static } from 'typebox';
import { parseAddress } from '../../audience/contacts/addresses.ts';
import { hasSegment } from '../../audience/segments/segments.ts';
import { inChunks } from '../../database/bulk.ts';
import { recordId } from '../../database/ownership.ts';
import { AUTOMATION_STATUS } from '../../database/schema/index.ts';
import { conflict } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { readStored } from '../../errors/stored.ts';
import { withinShare } from '../../http/account-share.ts';
import { choice, integer, nullable, optionalFlag, said, stringList, zeroOrOne } from '../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../http/requests/validation.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { type Automation, requireAutomation } from '../automations.ts';
import {
  countEntries,
  ENTRY_OUTCOMES,
  entryRecord,
  type FoundEntry,
  foundEntries,
  startBackfill,
  stopBackfills,
} from '../backfill.ts';
import { ByUtr } from './automations.ts';

/** The maximum number of contacts in a request. */
const MAX_CONTACTS = 1000;
/** The number of contacts whom one transaction lets enter, which takes a few milliseconds. */
const CONTACTS_AT_ONCE = 100;
/** How long a request waits for the write lock, in milliseconds. */
const LOCK_WAIT_MS = 10_000;

const Outcome = Type.Object({
  contact: Type.String({ description: 'The id or address of the contact, as in the request.' }),
  outcome: {
    ...choice(...ENTRY_OUTCOMES),
    description:
      'entered: the contact entered; active: the contact is already in the automation; was_in: the contact was in the automation and may not enter again; outside_target: the contact is not in the list or segment; no_mail: the contact may not get the e-mails, for the reason given; unknown: the account has no such contact.',
  },
  reason: nullable(said(), 'Why the contact may not get the e-mails; null unless the outcome is no_mail.'),
});
type Outcome = Static<typeof Outcome>;

export const enterAutomation = operation({
  name: 'Let contacts enter an automation (addition)',
  description:
    'Works for every trigger. The automation must be live, and the contacts must be in its target. Contacts who were in the automation before enter again only if re_entry allows it. Safe to repeat.',
  role: 'editor',
  input: Type.Object({
    ...ByUtr.properties,
    contacts: Type.Unsafe<string[]>({
      ...stringList({
        minItems: 1,
        maxItems: MAX_CONTACTS,
        description: `Ids or addresses of contacts, at most ${MAX_CONTACTS}.`,
      }),
      examples: [['zoe@example.com']],
    }),
  }),
  output: Type.Object({
    entered: integer({ description: 'The number of contacts who entered.' }),
    contacts: Type.Array(Outcome, { description: 'The outcome for each contact, in the order of the request.' }),
  }),
  async run(context, { utr, contacts }) {
    const { db, clock, accountId, wake } = context;
    requireAutomation(db, accountId, utr);
    const outcomes: Outcome[] = [];
    const write = () => {
      const automation = requireLive(context, utr);
      const nextContacts = contacts.slice(outcomes.length, outcomes.length + CONTACTS_AT_ONCE);
      outcomes.push(...enterSome(db.$client, automation, nextContacts, clock.now().getTime()));
      return outcomes.length < contacts.length;
    };
    await inChunks(db.$client, write, LOCK_WAIT_MS);
    wake();
    return { entered: outcomes.filter(({ outcome }) => outcome === 'entered').length, contacts: outcomes };
  },
});

/**
 * SQL: the ids of the addresses of @requested, and in `is_entering` whether an entry of the contact is recorded and still to be applied.
 * @requested is a JSON list with a pair for each contact: the contact's id, or null and the normalized address.
 */
const REQUESTED = `
  SELECT q.at, q.address_id, EXISTS (SELECT 1 FROM membership_changes m
    WHERE m.automation_id = @automation AND m.address_id = q.address_id AND m.change IN ('joined', 'let_in')) AS is_entering
  FROM (
    SELECT g.key AS at, CASE WHEN g.value ->> 0 IS NULL
      THEN (SELECT a.id FROM addresses a WHERE a.user_id = @account AND a.normalized_email = g.value ->> 1
        AND EXISTS (SELECT 1 FROM contacts c WHERE c.address_id = a.id AND c.deleted_at IS NULL))
      ELSE (SELECT c.address_id FROM contacts c WHERE c.id = g.value ->> 0 AND c.user_id = @account AND c.deleted_at IS NULL) END AS address_id
    FROM json_each(@requested) g) q`;
const FIND_OUTCOMES = foundEntries(REQUESTED);

/** Records the entries of some contacts, given by id or address. Returns their outcomes. Call inside a transaction; `at` is epoch milliseconds. */
function enterSome(client: Database, automation: Automation, addresses: readonly string[], at: number): Outcome[] {
  const { id, user_id: account, unsubscribe_group_id } = automation;
  const pairs = addresses.map((address) =>
    address.includes('@') ? [null, parseAddress(address)?.normalized ?? ''] : [recordId(address), ''],
  );
  const entries = client.prepare<[object], FoundEntry>(FIND_OUTCOMES).all({
    account,
    automation: id,
    group: Number(unsubscribe_group_id),
    at,
    event_key: null,
    requested: JSON.stringify(pairs),
  });
  const enter = entryRecord(client, 'joined');
  const entered = new Set<number | null>();
  return entries.map(({ address_id, contact_id, outcome, reason }, place): Outcome => {
    const contact = addresses[place] ?? '';
    if (outcome !== 'entered') return { contact, outcome, reason: outcome === 'no_mail' ? readStored(reason) : null };
    // A contact who is named twice in the request enters once.
    if (entered.has(address_id)) return { contact, outcome: 'active', reason: null };
    entered.add(address_id);
    enter.run({ account, automation: id, address_id, contact_id, at });
    return { contact, outcome, reason: null };
  });
}

const Entries = Type.Object(
  {
    contacts: integer({ description: 'The number of contacts who were counted.' }),
    is_complete: zeroOrOne('1: all contacts were counted; 0: there are more contacts, so the numbers are minimums.'),
    entered: integer({ description: 'The number of contacts who enter and get the e-mails.' }),
    held_out: integer({ description: 'The number of contacts who enter and get nothing, as the control group.' }),
    active: integer({ description: 'The number of contacts who are already in the automation.' }),
    was_in: integer({ description: 'The number of contacts who were in the automation and may not enter again.' }),
    outside_target: integer({ description: 'The number of contacts of the segment who are not in the target.' }),
    no_mail: integer({
      description:
        'The number of contacts who may not get the e-mails: unsubscribed, suppressed, inactive, or in the segment of the goal or exit rule.',
    }),
  },
  { description: 'The numbers of contacts by outcome.' },
);
export type Entries = Static<typeof Entries>;

const source = {
  ...ByUtr.properties,
  segment_id: Type.Optional(
    integer({ description: 'Only contacts of this segment enter. 0: all contacts of the target.' }),
  ),
};

function checkSource(
  { db, accountId }: Context,
  { segment_id: segment }: { segment_id?: number },
  errors: FieldErrorCollector,
): void {
  if (segment) errors.reference('segment_id', () => hasSegment(db, accountId, segment));
}

/** Returns the account's automation with this utr. Throws 404 if there is none, and 409 if the automation is not live. */
function requireLive({ db, accountId }: Context, utr: unknown): Automation {
  const automation = requireAutomation(db, accountId, utr);
  if (automation.status !== AUTOMATION_STATUS.live) throw conflict(sentence('automation_not_live'));
  return automation;
}

/** Used by the screen, which has shown the counts. */
export const startEntering = operation({
  name: 'Let all contacts of the target enter an automation, without counting them',
  role: 'editor',
  input: Type.Object(source),
  check: checkSource,
  async run(context, { utr, segment_id = 0 }) {
    const client = context.db.$client;
    const write = () => {
      startBackfill(client, requireLive(context, utr), segment_id);
      return false;
    };
    await inChunks(client, write, LOCK_WAIT_MS);
    context.wake();
  },
});

export const countEntering = operation({
  name: 'Count how many contacts of the target would enter an automation (addition)',
  description: 'The automation may be a draft.',
  role: 'viewer',
  input: Type.Object(source),
  output: Type.Object({ entries: Entries }),
  check: checkSource,
  async run({ db, clock, accountId }, { utr, segment_id = 0 }) {
    const automation = requireAutomation(db, accountId, utr);
    const now = clock.now().getTime();
    return { entries: await withinShare(accountId, () => countEntries(db.$client, automation, segment_id, now)) };
  },
});

export const enterAll = operation({
  name: 'Let all contacts of the target enter an automation (addition)',
  description:
    'Works for every trigger, also for contacts who were in the target before the automation went live. With segment_id, only the contacts of the segment enter. The automation must be live, except in a dry run. The contacts enter in the background.',
  role: 'editor',
  input: Type.Object({
    ...source,
    dry_run: optionalFlag('1: nobody enters; the answer says how many would.'),
  }),
  output: Type.Object({ entries: Entries }),
  check: checkSource,
  async run(context, { dry_run, ...fields }) {
    if (dry_run !== 1) requireLive(context, fields.utr);
    const counted = await countEntering.run(context, fields);
    if (dry_run !== 1) await startEntering.run(context, fields);
    return counted;
  },
});

export const stopEntering = operation({
  name: 'Stop letting all contacts of the target or a segment enter an automation (addition)',
  description:
    'No further contact enters by POST /automations/enter-all. Contacts who have entered stay. Safe to repeat.',
  role: 'editor',
  input: ByUtr,
  async run({ db, accountId }, { utr }) {
    const { id } = requireAutomation(db, accountId, utr);
    await stopBackfills(db.$client, id, LOCK_WAIT_MS);
  },
});
