/** Lets contacts enter an automation by hand or over the API. */
import type { Database } from 'better-sqlite3';
import Type, { type Static } from 'typebox';
import { parseAddress } from '../../audience/contacts/addresses.ts';
import { ineligibilityReason } from '../../audience/eligibility.ts';
import { inChunks } from '../../database/bulk.ts';
import { recordId } from '../../database/ownership.ts';
import { prepared } from '../../database/prepared.ts';
import { AUTOMATION_STATUS, BARS_ENTRY } from '../../database/schema/index.ts';
import { endReason, isMember } from '../../delivery/queue/enrolment-state.ts';
import { conflict } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { readStored } from '../../errors/stored.ts';
import { choice, integer, nullable, said, stringList } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { type Automation, requireAutomation } from '../automations.ts';
import { ByUtr } from './automations.ts';

/** The maximum number of contacts in a request. */
const MAX_CONTACTS = 1000;
/** The number of contacts that one transaction lets enter, which takes a few milliseconds. */
const ROWS = 100;
/** How long a request waits for the write lock, in milliseconds. */
const MAX_WAIT_MS = 10_000;

const OUTCOMES = ['entered', 'active', 'was_in', 'outside_target', 'no_mail', 'unknown'] as const;
const Outcome = Type.Object({
  contact: Type.String({ description: 'The contact as it was given.' }),
  outcome: {
    ...choice(...OUTCOMES),
    description:
      'active: it is in the automation; was_in: it was, and may not enter again; outside_target: it is not in the list or segment; no_mail: it may not get the mails, for the reason; unknown: the account has no such contact.',
  },
  reason: nullable(said(), 'Of no_mail: why.'),
});
type Outcome = Static<typeof Outcome>;

export const enterAutomation = operation({
  name: 'Let contacts enter an automation (addition)',
  description:
    'Whatever its trigger is. It must be live, and the contacts in its target. Those who were in it enter again only where re_entry lets them; safe to repeat.',
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
    entered: integer({ description: 'How many entered.' }),
    contacts: Type.Array(Outcome, {
      description: 'What became of each contact, in the order in which they were given.',
    }),
  }),
  async run({ db, clock, accountId, wake }, { utr, contacts: given }) {
    requireAutomation(db, accountId, utr);
    const outcomes: Outcome[] = [];
    const write = () => {
      const automation = requireAutomation(db, accountId, utr);
      if (automation.status !== AUTOMATION_STATUS.live) throw conflict(sentence('automation_not_live'));
      const some = given.slice(outcomes.length, outcomes.length + ROWS);
      outcomes.push(...enterSome(db.$client, automation, some, clock.now().getTime()));
      return outcomes.length < given.length;
    };
    await inChunks(db.$client, write, MAX_WAIT_MS);
    wake();
    return { entered: outcomes.filter(({ outcome }) => outcome === 'entered').length, contacts: outcomes };
  },
});

interface Found {
  address_id: number | null;
  contact_id: number | null;
  outcome: Outcome['outcome'];
  /** In its stored form. */
  reason: string | null;
}

/**
 * SQL: the contacts of @given, which are pairs of an id, or null, and a normalized address, with what becomes of each. The contact is
 * that of the target.
 */
const FIND = `
  SELECT p.address_id, CASE au.automation_for_table
      WHEN 'contacts' THEN (SELECT k.id FROM contacts k
        WHERE k.contact_type_id = au.automation_for AND k.address_id = p.address_id AND k.deleted_at IS NULL)
      ELSE (SELECT r.contact_id FROM segment_recipients r WHERE r.segment_id = au.automation_for AND r.address_id = p.address_id) END AS contact_id,
    CASE
      WHEN p.address_id IS NULL THEN 'unknown'
      WHEN NOT (${isMember('p')}) THEN 'outside_target'
      WHEN EXISTS (SELECT 1 FROM enrolments n WHERE n.automation_id = au.id AND n.address_id = p.address_id AND n.state = 'active')
        OR EXISTS (SELECT 1 FROM membership_changes m WHERE m.automation_id = au.id AND m.address_id = p.address_id AND m.change = 'joined')
        THEN 'active'
      WHEN ${ineligibilityReason('p', '@group')} IS NOT NULL OR ${endReason('p')} IS NOT NULL THEN 'no_mail'
      WHEN EXISTS (SELECT 1 FROM enrolments n WHERE n.automation_id = au.id AND n.address_id = p.address_id AND ${BARS_ENTRY}) THEN 'was_in'
      ELSE 'entered' END AS outcome,
    ifnull(${ineligibilityReason('p', '@group')}, ${endReason('p')}) AS reason
  FROM (
    SELECT g.key AS at, CASE WHEN g.value ->> 0 IS NULL
      THEN (SELECT a.id FROM addresses a WHERE a.user_id = @account AND a.normalized_email = g.value ->> 1
        AND EXISTS (SELECT 1 FROM contacts c WHERE c.address_id = a.id AND c.deleted_at IS NULL))
      ELSE (SELECT c.address_id FROM contacts c WHERE c.id = g.value ->> 0 AND c.user_id = @account AND c.deleted_at IS NULL) END AS address_id
    FROM json_each(@given) g) p
  CROSS JOIN automations au ON au.id = @automation ORDER BY p.at`;

/** Records the entry of some contacts. Call inside a transaction; `at` is epoch milliseconds. */
function enterSome(client: Database, automation: Automation, given: readonly string[], at: number): Outcome[] {
  const { id, user_id: account, unsubscribe_group_id } = automation;
  const pairs = given.map((one) =>
    one.includes('@') ? [null, parseAddress(one)?.normalized ?? ''] : [recordId(one), ''],
  );
  const found = prepared<[object], Found>(client, FIND).all({
    account,
    automation: id,
    group: Number(unsubscribe_group_id),
    at,
    event_key: null,
    given: JSON.stringify(pairs),
  });
  const enter = prepared<[object]>(
    client,
    `INSERT INTO membership_changes (user_id, automation_id, address_id, contact_id, change, happened_at)
    VALUES (@account, @id, @address_id, @contact_id, 'joined', @at)`,
  );
  const entered = new Set<number | null>();
  return found.map(({ address_id, contact_id, outcome, reason }, place): Outcome => {
    const contact = given[place] ?? '';
    if (outcome !== 'entered') return { contact, outcome, reason: outcome === 'no_mail' ? readStored(reason) : null };
    // A contact that is given twice enters once.
    if (entered.has(address_id)) return { contact, outcome: 'active', reason: null };
    entered.add(address_id);
    enter.run({ account, id, address_id, contact_id, at });
    return { contact, outcome, reason: null };
  });
}
