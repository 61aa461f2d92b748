/** Operations for senders: adding and changing them, their verification mail, and the effects of deleting one. */

import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { finishHolds } from '../../campaigns/large-writes.ts';
import { readMailRule } from '../../database/accounts.ts';
import { ownedRecord } from '../../database/ownership.ts';
import { ownedList, readRecord, recordObject } from '../../database/record-json.ts';
import {
  AUTOMATION_STATUS,
  cities,
  countries,
  HELD_CODES,
  relays,
  SINGLE_SEND_STATUS,
  senders,
  states,
  users,
} from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { waitForAcknowledgement } from '../../delivery/queue/mailing-state.ts';
import { stateName } from '../../delivery/reporting/mailing-report.ts';
import { countRelayChange } from '../../delivery/transport/relays/changes.ts';
import { invalid, notFound } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { sentence } from '../../errors/sentences.ts';
import {
  choice,
  DeliveryState,
  email,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  listQuery,
  nullable,
  optionalReference,
  reference,
  said,
  softStamps,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../http/requests/validation.ts';
import { acceptedLocales, LANGUAGE_CODES, type LanguageCode, preferredLanguage } from '../../languages.ts';
import { isOperatorsSession } from '../../operations/callers.ts';
import { type Context, listOperation, operation, recordOperation } from '../../operations/operation.ts';
import { isoTimestamp, NO_TIME } from '../../time/clock.ts';
import { auditBy } from '../../users/audit.ts';
import { holdCampaignsUsingSender } from '../hold-campaigns.ts';
import { findLastVerification, sendVerification } from '../verification.ts';

const Sender = Type.Object({
  id: integer(),
  user_id: integer(),
  from_name: Type.String(),
  from_email: Type.String(),
  reply_to_email: Type.String(),
  country_id: integer(),
  state_id: integer(),
  city_id: integer(),
  zip_code: Type.String(),
  company_address: Type.String(),
  company_address2: Type.String(),
  nickname: Type.String(),
  is_verified: zeroOrOne(),
  utr: Type.String(),
  send_at: Type.String({ description: 'When the last verification e-mail was queued, UTC.' }),
  ...softStamps,
});
/** The fields of a sender that a user enters. */
const SenderFields = {
  from_name: line(),
  from_email: email(),
  reply_to_email: email(),
  country_id: reference(),
  state_id: optionalReference(),
  city_id: optionalReference(),
  zip_code: Type.Optional(line()),
  company_address: line(),
  company_address2: Type.Optional(line()),
  nickname: line(),
  /** Addition to the contract. */
  relay_id: optionalReference(
    'The only SMTP server that sends its e-mail; 0 for any. Only a signed-in operator may name one (addition).',
  ),
};
const ById = { sender_id: identifier('The sender.') };
/** Addition to the contract: the state of the verification mail, which the contract's record of a sender does not have. */
export const Verification = Type.Object({
  is_verified: zeroOrOne(),
  sent_at: nullable(isoTimestampSchema()),
  state: nullable(DeliveryState, 'State of the verification e-mail; null when none was requested.'),
  attempts: integer(),
  reply: nullable(said()),
  held_code: nullable(choice(...HELD_CODES)),
  held_reason: nullable(said()),
});
/** The campaigns and mailings that deleting a sender would stop. */
const Usage = Type.Object(
  {
    queued: integer({ description: 'Single sends that wait for their time: they become drafts.' }),
    sending: integer({ description: 'Mailings that are being sent: they are held.' }),
    live_automations: integer({ description: 'Live automations with an e-mail from the sender: they become drafts.' }),
    drafts: integer({ description: 'Drafts of single sends with the sender: they need another one.' }),
  },
  { description: 'The campaigns that use the sender.' },
);
const record = recordObject(Sender, senders);

export type Sender = Static<typeof Sender>;
export type Usage = Static<typeof Usage>;

export const listSenders = listOperation({
  name: 'List the senders',
  role: 'viewer',
  input: listQuery,
  as: 'senders',
  record: Sender,
  select: ({ accountId }, part) => ({ ...ownedList(record, senders, accountId), part }),
});

export const readSender = recordOperation({
  name: 'Read a sender',
  role: 'viewer',
  input: Type.Object(ById),
  as: 'sender',
  record: Sender,
  json: ({ db, accountId }, { sender_id }) =>
    readRecord(db, record, sql`${senders}`, ownedRecord(senders, sender_id, accountId)),
});

/** Says in which language a verification mail is, as `verificationLanguage` chooses it. */
const LANGUAGE_RULE =
  'The e-mail is in English or German: in the language of the user, otherwise of the header Accept-Language, otherwise of the e-mails of the account.';

export const addSender = operation({
  name: 'Add a sender and send its verification e-mail',
  description: `The address is verified by the link in the e-mail. ${LANGUAGE_RULE}`,
  role: 'owner',
  input: Type.Object(SenderFields),
  check: checkPlaces,
  run(context, { relay_id, ...fields }) {
    const { db, clock, accountId, wake } = context;
    const stamp = isoTimestamp(clock.now());
    const sender = inTransaction(db, (tx) => {
      const added = tx
        .insert(senders)
        .values({
          ...fields,
          ...chosenRelay(context, relay_id),
          user_id: accountId,
          utr: randomUUID(),
          send_at: NO_TIME,
          created_at: stamp,
          updated_at: stamp,
        })
        .returning()
        .get();
      sendVerification(context, added, verificationLanguage(context), clock.now());
      auditBy(context, 'sender_added', added.from_email);
      return added;
    });
    wake();
    return { id: sender.id };
  },
});

export const changeSender = operation({
  name: 'Change a sender',
  description: `A new address has to be verified again. ${LANGUAGE_RULE}`,
  role: 'owner',
  input: Type.Object({ ...ById, ...SenderFields }),
  check: checkPlaces,
  run(context, { sender_id, relay_id, ...fields }) {
    const { db, clock, wake } = context;
    inTransaction(db, (tx) => {
      const before = requireSender(context, sender_id);
      const hasNewAddress = before.from_email !== fields.from_email;
      const after = tx
        .update(senders)
        .set({
          ...fields,
          ...chosenRelay(context, relay_id),
          ...(hasNewAddress && { is_verified: 0 }),
          updated_at: isoTimestamp(clock.now()),
        })
        .where(eq(senders.id, before.id))
        .returning()
        .get();
      if (before.relay_id !== after.relay_id) countRelayChange(db.$client);
      if (hasNewAddress) sendVerification(context, after, verificationLanguage(context), clock.now());
      auditBy(context, 'sender_changed', after.from_email);
    });
    wake();
  },
});

export const deleteSender = operation({
  name: 'Delete a sender',
  description: 'Nothing is sent from the sender any more. The confirmation is in errors, with the status success.',
  role: 'owner',
  input: Type.Object(ById),
  async run(context, { sender_id }) {
    const { db, clock, wake } = context;
    const now = isoTimestamp(clock.now());
    const heldMailings = inTransaction(db, (tx) => {
      const { id, from_email } = requireSender(context, sender_id);
      tx.update(senders).set({ deleted_at: now }).where(eq(senders.id, id)).run();
      auditBy(context, 'sender_removed', from_email);
      return holdCampaignsUsingSender(db, id, now);
    });
    wake();
    await finishHolds(db);
    for (const id of heldMailings) await waitForAcknowledgement(db.$client, id);
  },
});

export const readVerification = operation({
  name: "Read the state of a sender's verification e-mail (addition)",
  role: 'viewer',
  input: Type.Object(ById),
  output: Type.Object({ report: Verification }),
  run(context, { sender_id }) {
    const sender = requireSender(context, sender_id);
    const none = { sent_at: null, attempts: 0, reply: null, held_code: null, held_reason: null };
    const { state, ...mail } = { ...none, ...findLastVerification(context.db, sender) };
    return {
      report: { is_verified: sender.is_verified, ...mail, state: state === undefined ? null : stateName(state) },
    };
  },
});

export const resendVerification = operation({
  name: 'Send the verification e-mail again',
  description: LANGUAGE_RULE,
  role: 'owner',
  input: Type.Object(ById),
  run(context, { sender_id }) {
    const { db, clock, wake } = context;
    inTransaction(db, () =>
      sendVerification(context, requireSender(context, sender_id), verificationLanguage(context), clock.now()),
    );
    wake();
  },
});

export const readSenderUsage = operation({
  name: 'Read what deleting a sender stops (addition)',
  role: 'viewer',
  input: Type.Object(ById),
  output: Type.Object({ usage: Usage }),
  run: (context, { sender_id }) => ({ usage: usageOf(context, requireSender(context, sender_id).id) }),
});

/** Returns the sender of the caller's account with this id. Throws 404 if the account has no such sender. */
function requireSender({ db, accountId }: Context, id: unknown) {
  const sender = db
    .select()
    .from(senders)
    .where(ownedRecord(senders, id, accountId))
    .get();
  if (sender === undefined) throw notFound();
  return sender;
}

function checkPlaces(
  { db }: Context,
  { country_id, state_id, city_id }: { country_id?: number; state_id?: number; city_id?: number },
  errors: FieldErrorCollector,
): void {
  const exists = (table: typeof countries | typeof states | typeof cities, id: number) =>
    db.select({ id: table.id }).from(table).where(eq(table.id, id)).get() !== undefined;
  if (country_id !== undefined) errors.reference('country_id', () => exists(countries, country_id));
  if (state_id) errors.reference('state_id', () => exists(states, state_id));
  if (city_id) errors.reference('city_id', () => exists(cities, city_id));
}

/**
 * Returns the column for the only relay that a sender's mail may use, where 0 means any relay. Returns no column, so that the relay does not
 * change, if the request has no relay. Only operators may choose one: of other callers, 0 is ignored. Throws 422 if another caller names a
 * relay, and if the relay does not exist.
 */
function chosenRelay(context: Context, relayId: number | undefined): { relay_id?: number | null } {
  const isOperator = isOperatorsSession(context);
  if (relayId === undefined || (relayId === 0 && !isOperator)) return {};
  if (!isOperator) throw invalid('relay_id', sentence('operators_only'));
  if (relayId === 0) return { relay_id: null };
  const relay = context.db.select({ id: relays.id }).from(relays).where(eq(relays.id, relayId)).get();
  if (relay === undefined) throw invalid('relay_id', messages.selected('relay_id'));
  return { relay_id: relay.id };
}

function usageOf({ db, accountId }: Context, senderId: number): Usage {
  return db.get(sql`
    SELECT coalesce(sum(status = ${SINGLE_SEND_STATUS.queued}), 0) AS queued,
      (SELECT count(*) FROM mailings WHERE sender_id = ${senderId} AND finished_at IS NULL) AS sending,
      (SELECT count(*) FROM automations a WHERE a.user_id = ${accountId} AND a.deleted_at IS NULL
         AND a.status = ${AUTOMATION_STATUS.live}
         AND EXISTS (SELECT 1 FROM automation_schedules s WHERE s.automation_id = a.id AND s.sender_id = ${senderId})) AS live_automations,
      coalesce(sum(status = ${SINGLE_SEND_STATUS.draft}), 0) AS drafts
    FROM single_sends WHERE user_id = ${accountId} AND sender_id = ${senderId}`);
}

/**
 * Returns the language of the verification mail: that of the user's settings, otherwise that of the browser or of the account's mails. It is
 * English if the dashboard has none of them.
 */
function verificationLanguage({ db, accountId, actor, acceptLanguage }: Context): LanguageCode {
  const user = db
    .select({ language: users.language })
    .from(users)
    .where(eq(users.id, actor.userId ?? 0))
    .get();
  const locales = [
    user?.language ?? '',
    ...acceptedLocales(acceptLanguage),
    readMailRule(db, accountId, 'mail_language'),
  ];
  return preferredLanguage(locales, LANGUAGE_CODES);
}
