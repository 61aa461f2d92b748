/**
 * The operation that explains why one contact gets the mails of an automation or not: with each rule and its current value, and with the
 * steps that the contact has taken and those to come.
 */
import type { Database } from 'better-sqlite3';
import Type, { type Static } from 'typebox';
import { findAddressId } from '../../audience/contacts/address-rows.ts';
import { parseAddress } from '../../audience/contacts/addresses.ts';
import { CheckedRules } from '../../campaigns/operations/why.ts';
import { AUTOMATION_STATUS, BARS_ENTRY, STEP_KINDS, STEP_OUTCOMES } from '../../database/schema/index.ts';
import { fractionFor } from '../../delivery/queue/variant-groups.ts';
import { stateName } from '../../delivery/reporting/mailing-report.ts';
import {
  type CheckedRule,
  checked,
  contactRules,
  findContactAt,
  minuteOf,
  outsideRule,
  sendingRules,
  targetNamesOf,
  targetRule,
} from '../../delivery/reporting/why.ts';
import { senderRules } from '../../delivery/reporting/why-waiting.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import { codeOf, readStored } from '../../errors/stored.ts';
import {
  choice,
  DeliveryState,
  email as emailSchema,
  integer,
  isoTimestampSchema,
  nullable,
  said,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { type Automation, requireAutomation, segmentTarget, targetOf } from '../automations.ts';
import { ByUtr } from './automations.ts';
import { forecastFor, type PlannedStep, timestampOf } from './forecast.ts';

const Step = Type.Object({
  utr: Type.String(),
  kind: { ...choice(...STEP_KINDS), description: 'The kind of the step.' },
  subject: Type.String(),
  taken_at: nullable(isoTimestampSchema(), 'When the contact took the step, UTC; null if not yet.'),
  code: { ...nullable(choice(...STEP_OUTCOMES)), description: 'What was done at the step, as in the log.' },
  used: Type.Array(said(), {
    description:
      'What decided at the step: the segment and the values of the contact at that moment, the number drawn, the event, or the old and new value of the field.',
  }),
  is_elsewhere: zeroOrOne('1: the step is on a path that the contact did not take.'),
  due_at: nullable(
    isoTimestampSchema(),
    'When the step is due, UTC. If the contact waits at the step, this is the latest end of the wait. Null if the step is not due as things are now, or if it depends on an earlier decision that is still open.',
  ),
  awaits: nullable(
    said(),
    'The event or time for which the contact waits at the step now; null if the contact does not wait at this step.',
  ),
  change: nullable(said(), 'What would let the contact go on at another time or path; null if nothing would.'),
  delivery_state: { ...nullable(DeliveryState), description: 'The state of the delivery of an e-mail.' },
  attempts: nullable(integer(), 'How often an e-mail was handed to an SMTP relay.'),
  reply: nullable(said(), 'The reply of the SMTP relay to an e-mail, or the reason why the e-mail was not sent.'),
  reply_code: nullable(Type.String(), 'The code of the reply, if the reply is a sentence of the service.'),
});

const Why = Type.Object({
  email: Type.String(),
  contact_id: nullable(integer()),
  state: {
    ...choice('waiting', 'finished', 'left', 'outside'),
    description: 'The state of the contact in the automation.',
  },
  reason: nullable(said(), 'Why the contact gets no more e-mails; null while the contact gets e-mails.'),
  reason_code: nullable(Type.String()),
  entered_at: nullable(isoTimestampSchema(), 'When the contact entered last, UTC; null if the contact never entered.'),
  run: integer({ description: 'The number of entries of the contact; 0 if the contact never entered.' }),
  rules: CheckedRules,
  steps: Type.Array(Step, { description: 'The steps in reading order, past and to come.' }),
});
/** Why a contact gets the mails of an automation or not. */
export type Why = Static<typeof Why>;

export const explainAutomation = operation({
  name: 'Explain why one contact gets the e-mails and steps of an automation or not (addition)',
  description:
    'Returns each rule with its current value and what would change the value, and each step since the last entry of the contact: past steps with their outcome, and steps to come.',
  role: 'viewer',
  input: Type.Object({ ...ByUtr.properties, email: emailSchema() }),
  output: Type.Object({ why: Why }),
  run(context, { utr, email: typedEmail }) {
    const { db, clock, config, accountId } = context;
    const client = db.$client;
    const automation = requireAutomation(db, accountId, utr);
    const now = clock.now();
    const forecast = forecastFor(db, automation, typedEmail, {
      now: now.getTime(),
      zone: config.TIME_ZONE,
      asIfLive: false,
    });
    const typed = parseAddress(typedEmail);
    const address = findAddressId(db.$client, accountId, typed) ?? 0;
    const email = typed?.normalized ?? '';
    const question = {
      account: accountId,
      address,
      email,
      group: Number(automation.unsubscribe_group_id),
      ignoresCaps: automation.ignores_caps === 1,
      now,
      timeZone: config.TIME_ZONE,
    };
    const isLive = automation.status === AUTOMATION_STATUS.live;
    const { state, reason, entered_at, run, steps } = forecast;
    const nextMail = steps.find(isMailToCome);
    return {
      why: {
        email,
        contact_id: findContactAt(client, address),
        state,
        reason,
        reason_code: codeOf(reason),
        entered_at,
        run,
        rules: [
          checked('started', isLive, sentence(isLive ? 'why_started' : 'why_not_started'), 'why_start'),
          ...sendingRules(db, question, [automation]),
          ...(nextMail === undefined ? [] : senderRules(client, question, nextMail.schedule.sender_id)),
          targetRule(client, targetOf(automation), address),
          entryRule(context, automation, forecast, address),
          outsideRule(client, 'goal', segmentTarget(automation.goal_segment_id), address),
          outsideRule(client, 'exit', segmentTarget(automation.exit_segment_id), address),
          ...contactRules(db, question),
        ],
        steps: steps.map((step) => explainedStep(client, step, address)),
      },
    };
  },
});

/** Returns true for a mail that the contact may still get. */
function isMailToCome({ schedule, taken, is_elsewhere }: PlannedStep): boolean {
  return schedule.kind === 'mail' && !is_elsewhere && (taken === undefined || taken.due_at !== null);
}

/** Returns the rule about entering. It is met if the contact is in the automation, or may enter it. */
function entryRule(
  { db, clock }: Context,
  automation: Automation,
  { state, reason, entered_at, run }: Pick<Why, 'state' | 'reason' | 'entered_at' | 'run'>,
  address: number,
): CheckedRule {
  if (entered_at === null) {
    const code = codeOf(reason);
    const isBarred = code === 'joined_outside_live' || code === 'awaits_event' || code === 'awaits_trigger';
    const value = isBarred ? sentence('why_never_entered', { why: reason ?? '' }) : sentence('why_may_enter');
    return checked('entry', !isBarred, value, 'why_entry_change');
  }
  const isBarred = db.$client
    .prepare<object, 0 | 1>(`
      SELECT EXISTS (SELECT 1 FROM enrolments n WHERE n.automation_id = au.id AND n.address_id = @address AND ${BARS_ENTRY})
      FROM automations au WHERE au.id = @automation`)
    .pluck()
    .get({ automation: automation.id, address, at: clock.now().getTime(), event_key: null });
  const isMet = state === 'waiting' || isBarred !== 1;
  const value = sentence(isMet ? 'why_entered' : 'why_no_entry_again', { time: minuteOf(entered_at), run });
  return checked('entry', isMet, value, 'why_entry_change');
}

/** Returns a step in the form of the API. */
function explainedStep(client: Database, step: PlannedStep, address: number): Why['steps'][number] {
  const { schedule, taken, due_at, is_elsewhere, awaited } = step;
  const { utr, kind, subject } = schedule;
  const reply = readStored(taken?.reply ?? null);
  return {
    utr,
    kind,
    subject,
    taken_at: timestampOf(taken?.taken_at),
    code: taken?.outcome ?? null,
    used: usedAt(client, step, address),
    is_elsewhere: is_elsewhere ? 1 : 0,
    due_at: timestampOf(due_at),
    awaits: awaited?.awaits ?? null,
    change: awaited?.change ?? null,
    delivery_state: taken === undefined || taken.delivery === null ? null : stateName(taken.delivery),
    attempts: taken?.attempts ?? null,
    reply,
    reply_code: codeOf(reply),
  };
}

/** Returns sentences about what decided at a step; an empty list if the contact has not taken the step. */
function usedAt(client: Database, { schedule, taken }: PlannedStep, address: number): Said[] {
  if (taken === undefined) return [];
  const isYes = taken.outcome === 'yes';
  const values = readStored(taken.used);
  const reasons: Said[] = values === null ? [] : [values];
  if (schedule.kind === 'if') {
    const name = targetNamesOf(client, segmentTarget(schedule.segment_id), null) || '–';
    reasons.unshift(isYes ? sentence('used_in_segment', { name }) : sentence('used_not_in_segment', { name }));
  }
  if (schedule.kind === 'wait_until' && schedule.until === 'event') {
    const event = schedule.event ?? '';
    reasons.unshift(isYes ? sentence('used_event', { event }) : sentence('used_no_event', { event }));
  }
  const draw = fractionFor(address, schedule.utr) * 100;
  const share = schedule.share ?? 0;
  // If the share or the address has changed since then, the number drawn is unknown.
  if (schedule.kind === 'split' && draw < share === isYes)
    reasons.unshift(sentence('used_draw', { draw: Math.floor(draw * 100) / 100, share }));
  return reasons;
}
