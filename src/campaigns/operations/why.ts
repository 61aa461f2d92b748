/** The operation that explains why one contact gets a campaign or not, with the state of the mail, and each rule with its current value. */
import Type, { type Static } from 'typebox';
import { findAddressId } from '../../audience/contacts/address-rows.ts';
import { parseAddress } from '../../audience/contacts/addresses.ts';
import { DUE } from '../../delivery/queue/due.ts';
import { stateName } from '../../delivery/reporting/mailing-report.ts';
import {
  checked,
  contactRules,
  findContactAt,
  outsideRule,
  RULES,
  sendingRules,
  targetRule,
} from '../../delivery/reporting/why.ts';
import { campaignRules, senderRules } from '../../delivery/reporting/why-waiting.ts';
import { sentence } from '../../errors/sentences.ts';
import { codeOf, readStored } from '../../errors/stored.ts';
import {
  choice,
  DeliveryState,
  email as emailSchema,
  identifier,
  integer,
  isoTimestampSchema,
  nullable,
  said,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { findSingleSendMailing, requireSingleSend } from '../single-sends.ts';

/** The schema of the rules that decide whether a contact gets a mail. */
export const CheckedRules = Type.Array(
  Type.Object({
    rule: {
      ...choice(...RULES),
      description: 'The rule. An account with several frequency caps has a `cap` for each.',
    },
    is_met: zeroOrOne('1: the rule allows the e-mail now.'),
    value: said('The sentence that says what is the case now.'),
    change: nullable(said(), 'What would make the rule allow the e-mail; null if the rule allows it.'),
    counted_mails: Type.Optional(
      Type.Array(Type.Object({ name: Type.String(), sent_at: isoTimestampSchema() }), {
        description: 'The e-mails that count towards a frequency cap, latest first.',
      }),
    ),
  }),
  { description: 'The rules that decide whether the contact gets the e-mail, as they are now.' },
);

const Why = Type.Object({
  email: Type.String(),
  contact_id: nullable(integer()),
  delivery: nullable(
    Type.Object({
      state: DeliveryState,
      attempts: integer({ description: 'How often the e-mail was handed to an SMTP server.' }),
      happened_at: nullable(
        isoTimestampSchema(),
        'When the e-mail came into this state, UTC; null before the first attempt.',
      ),
      due_at: nullable(
        isoTimestampSchema(),
        'When the next attempt is due, UTC; null if no attempt follows, or the next attempt is due at once.',
      ),
      reply: nullable(said(), 'The reply of the SMTP server, or the reason why the e-mail was not sent.'),
      reply_code: nullable(Type.String(), 'The code of the reply, if the reply is a sentence of the service.'),
    }),
    'The e-mail for this contact; null if there is none.',
  ),
  rules: CheckedRules,
});
/** Why a contact gets a campaign or not. */
export type Why = Static<typeof Why>;

/** Times of a delivery below this number are special values, such as `DUE.next`. The only special value above it is `DUE.awaitsDecision`. */
const FIRST_TIME = 1_000_000_000_000;

export const explainSingleSend = operation({
  name: 'Explain why one contact gets a single send or not (addition)',
  description:
    'Returns the state of the e-mail, with the reply of the SMTP server or the reason why it was not sent, and each rule with its current value and what would change the value.',
  role: 'viewer',
  input: Type.Object({ utr: identifier('The single send.'), email: emailSchema() }),
  output: Type.Object({ why: Why }),
  run({ db, clock, config, accountId }, { utr, email: typedEmail }) {
    const client = db.$client;
    const send = requireSingleSend(db, accountId, utr);
    const mailing = findSingleSendMailing(db, send);
    const typed = parseAddress(typedEmail);
    const address = findAddressId(db.$client, accountId, typed) ?? 0;
    const email = typed?.normalized ?? '';
    const question = {
      account: accountId,
      address,
      email,
      group: send.unsubscribe_group_id,
      ignoresCaps: send.ignores_caps === 1,
      now: clock.now(),
      timeZone: config.TIME_ZONE,
    };
    const row = client
      .prepare<
        [number, number],
        { state: number; attempts: number; reply: string | null; updated: number; due: number }
      >(
        `
        SELECT state, attempt AS attempts, reply, updated_at AS updated, due_at AS due FROM deliveries
        WHERE mailing_id = ? AND address_id = ?`,
      )
      .get(mailing?.id ?? 0, address);
    const reply = readStored(row?.reply ?? null);
    const timed = (time: number) =>
      time < FIRST_TIME || time === DUE.awaitsDecision ? null : isoTimestamp(new Date(time));
    const state = row === undefined ? null : stateName(row.state);
    const isStarted = mailing !== null;
    return {
      why: {
        email,
        contact_id: findContactAt(client, address),
        delivery:
          row === undefined || state === null
            ? null
            : {
                state,
                attempts: row.attempts,
                happened_at: timed(row.updated),
                due_at: state === 'queued' ? timed(row.due) : null,
                reply,
                reply_code: codeOf(reply),
              },
        rules: [
          checked('started', isStarted, sentence(isStarted ? 'why_started' : 'why_not_started'), 'why_start'),
          ...sendingRules(db, question, [mailing ?? send]),
          ...campaignRules(client, question, { ...send, mailing: mailing?.id ?? null }, row),
          ...senderRules(client, question, mailing === null ? send.sender_id : mailing.sender_id),
          targetRule(client, send.recipient_id, address),
          outsideRule(client, 'excluded', send.exclude_specific_recipient_id, address),
          ...contactRules(db, question),
        ],
      },
    };
  },
});
