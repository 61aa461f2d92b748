/**
 * Operations for an account's tracking mode, and for contacts' choices about the recording of opens and clicks. They are
 * additions to the contract.
 */

import { and, desc, eq, inArray } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { addresses, consentLog, TRACKING_CHOICE, TRACKING_MODES } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { readStored } from '../../errors/stored.ts';
import {
  choice,
  flag,
  identifier,
  isoTimestampSchema,
  nullable,
  reference,
  said,
  text,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { auditBy } from '../../users/audit.ts';
import { requireAddress } from '../contacts/operations.ts';
import { storeTrackingChoice, TRACKING_ACTIONS } from '../store-tracking-choice.ts';
import { changeTrackingMode, isMeasuredNow, trackingMode } from '../tracking-choice.ts';

/** The maximum length of the text that a person agreed to or refused. */
const MAX_TEXT = 5000;

const modeSchema = () => ({
  ...choice(...TRACKING_MODES),
  description:
    'What is recorded. off: nothing; totals: the number of opens and clicks; person: opens and clicks of each contact; consent: opens and clicks of each contact who allowed it.',
});

const CHOICES = Object.keys(TRACKING_CHOICE) as (keyof typeof TRACKING_CHOICE)[];

const PersonChoice = Type.Object(
  {
    choice: { ...choice(...CHOICES), description: 'The choice; none: the person has not chosen yet.' },
    is_measured: zeroOrOne('1: the opens and clicks of the person are recorded now.'),
    consent_text: nullable(said(), 'The text that the person agreed to or refused.'),
    source: nullable(choice('api', 'page', 'form', 'import'), 'How the person chose.'),
    created_at: nullable(isoTimestampSchema(), 'When the person chose.'),
  },
  { description: 'The choice of the person.' },
);

export const readTracking = operation({
  name: 'Read which opens and clicks the account records (addition)',
  role: 'viewer',
  input: Type.Object({}),
  output: Type.Object({ tracking: Type.Object({ mode: modeSchema() }, { description: 'The choice of the account.' }) }),
  run: ({ db, accountId }) => ({ tracking: { mode: trackingMode(db, accountId) } }),
});

export const changeTracking = operation({
  name: 'Choose which opens and clicks the account records (addition)',
  description:
    'The choice applies at once: to e-mails sent from now on, also of running campaigns, and to opens and clicks of e-mails that were sent before.',
  role: 'owner',
  input: Type.Object({ mode: modeSchema() }),
  run(context, { mode }) {
    inTransaction(context.db, () => {
      changeTrackingMode(context.db, context.accountId, mode);
      auditBy(context, 'tracking_changed', mode);
    });
  },
});

export const readPersonChoice = operation({
  name: 'Read whether the person of a contact allows recording of opens and clicks (addition)',
  role: 'viewer',
  input: Type.Object({ contact_id: identifier('A contact of the person.') }),
  output: Type.Object({ tracking: PersonChoice }),
  run(context, { contact_id }): { tracking: Static<typeof PersonChoice> } {
    const { db } = context;
    const address = requireAddress(context, contact_id);
    const storedChoice = db.select().from(addresses).where(eq(addresses.id, address)).get()?.tracking_choice;
    const isMeasured = db.$client
      .prepare<[number], 0 | 1>(`SELECT ${isMeasuredNow('?')}`)
      .pluck()
      .get(address);
    const newest = db
      .select()
      .from(consentLog)
      .where(and(eq(consentLog.address_id, address), inArray(consentLog.action, TRACKING_ACTIONS)))
      .orderBy(desc(consentLog.id))
      .limit(1)
      .get();
    const logged = storedChoice === TRACKING_CHOICE.none ? undefined : newest;
    return {
      tracking: {
        choice: CHOICES.find((name) => TRACKING_CHOICE[name] === storedChoice) ?? 'none',
        is_measured: isMeasured ?? 0,
        consent_text: (logged?.source === 'import' ? readStored(logged.consent_text) : logged?.consent_text) ?? null,
        source: findSource(logged?.source),
        created_at: logged?.created_at ?? null,
      },
    };
  },
});

export const keepPersonChoice = operation({
  name: 'Record whether the person of a contact allows recording of opens and clicks (addition)',
  description:
    'For a choice that the person made elsewhere. The choice applies to the address, and so to all contacts with this address. Repeating the same choice changes nothing.',
  role: 'editor',
  input: Type.Object({
    contact_id: reference(),
    is_allowed: flag('1: the person allows that opens and clicks are recorded; 0: the person refuses.'),
    consent_text: text({ maxLength: MAX_TEXT, description: 'The text that was agreed to or refused, as proof.' }),
  }),
  run(context, { contact_id, is_allowed, consent_text }) {
    const { db, clock, accountId } = context;
    inTransaction(db, () =>
      storeTrackingChoice(db.$client, {
        accountId,
        addressId: requireAddress(context, contact_id),
        isAllowed: is_allowed === 1,
        source: 'api',
        text: consent_text,
        mailingId: null,
        now: isoTimestamp(clock.now()),
      }),
    );
  },
});

/** Returns the source in the consent log, if a choice about opens and clicks can have it; otherwise null. */
function findSource(source: string | undefined): 'api' | 'page' | 'form' | 'import' | null {
  return source === 'api' || source === 'page' || source === 'form' || source === 'import' ? source : null;
}
