/**
 * Tells why the mail of a campaign or automation waits: the warm-up of its sender, the rate of the mail provider, and the local times, the
 * first batch and the A/B test of a campaign.
 */
import type { Database } from 'better-sqlite3';
import { domainOf } from '../../audience/contacts/addresses.ts';
import { DELIVERY_STATE } from '../../database/schema/index.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import { dayOf, isoTimestamp } from '../../time/clock.ts';
import { toUtc, wallClock } from '../../time/zones.ts';
import { domainGroup } from '../pacing/mailbox-providers.ts';
import { limitOfGroup } from '../pacing/paced-groups.ts';
import { DUE } from '../queue/due.ts';
import { findZone, type Place, placeColumns } from '../timing/place-zones.ts';
import { findWarmUp, volumeAfter } from '../warm-up/plans.ts';
import { findWatch } from '../watch/watched-mailings.ts';
import { type CheckedRule, checked, findContactAt, minuteOf, type Question } from './why.ts';

/**
 * Returns the rules about the sender's warm-up and the rate of the mail provider. `senderId` is the sender of the mail; null if the sender
 * was deleted.
 */
export function senderRules(client: Database, { email, now }: Question, senderId: number | null): CheckedRule[] {
  return [warmUpRule(client, senderId, now), paceRule(client, senderId, email, now)];
}

function warmUpRule(client: Database, senderId: number | null, now: Date): CheckedRule {
  const warmUp = senderId === null ? null : findWarmUp(client, senderId, dayOf(now));
  const volume = warmUp && volumeAfter(warmUp, warmUp.step);
  if (warmUp === null || volume === null)
    return checked('warm_up', true, sentence('why_no_warm_up'), 'why_warm_up_change');
  const { domain, mails } = warmUp;
  return checked('warm_up', mails < volume, sentence('why_warm_up', { domain, mails, volume }), 'why_warm_up_change');
}

function paceRule(client: Database, senderId: number | null, email: string, now: Date): CheckedRule {
  const group = domainGroup(domainOf(email));
  const relay = client
    .prepare<[number | null], { relay_id: number | null }>('SELECT relay_id FROM senders WHERE id = ?')
    .get(senderId);
  const limit = limitOfGroup(client, group, relay?.relay_id ?? null, now);
  if (limit === null) return checked('pace', true, sentence('why_no_pace', { group }), 'why_pace_change');
  const { per_minute, until } = limit;
  return checked('pace', false, sentence('why_pace', { group, per_minute, time: minuteOf(until) }), 'why_pace_change');
}

/** The delivery of a campaign to one contact, as it is stored. */
interface StoredDelivery {
  state: number;
  attempts: number;
  /** When the mail is due, in epoch milliseconds, or one of `DUE`. */
  due: number;
}

/** The settings of a campaign by which its contacts get it at different times. */
interface Timing {
  /** The id of the campaign's mailing; null before the start. */
  mailing: number | null;
  local_time: 0 | 1;
  best_hour: 0 | 1;
  /** The local date (YYYY-MM-DD) at which the campaign starts. */
  schedule_date: string;
  /** The local time (HH:MM:SS) at which the campaign starts. */
  schedule_time: string;
  /** The share of recipients in the first batch, in percent; 0 if there is none. */
  canary_percent: number;
}

/**
 * Returns the rules about the recipient's own time, the first batch and the A/B test of a campaign. `delivery` is undefined if the contact
 * has no mail of the campaign.
 */
export function campaignRules(
  client: Database,
  question: Question,
  timing: Timing,
  delivery: StoredDelivery | undefined,
): CheckedRule[] {
  return [
    localTimeRule(client, question, timing, delivery),
    firstBatchRule(client, timing, delivery),
    testRule(delivery),
  ];
}

/** Returns the moment at which an untried mail is due; null if it is due at once or has no moment yet. */
function plannedMoment(delivery: StoredDelivery | undefined): number | null {
  const isUntried = delivery?.state === DELIVERY_STATE.queued && delivery.attempts === 0;
  return isUntried && delivery.due > DUE.atOnce && delivery.due < DUE.awaitsDecision ? delivery.due : null;
}

function localTimeRule(
  client: Database,
  { account, address, now, timeZone }: Question,
  { local_time, best_hour, schedule_date, schedule_time }: Timing,
  delivery: StoredDelivery | undefined,
): CheckedRule {
  const rule = (isMet: boolean, value: Said) => checked('local_time', isMet, value, 'why_local_time_change');
  const timed = (moment: number) => minuteOf(isoTimestamp(new Date(moment)));
  const planned = plannedMoment(delivery);
  if (best_hour === 1) {
    if (planned !== null) return rule(planned <= now.getTime(), sentence('why_best_hour', { time: timed(planned) }));
    return rule(delivery !== undefined, sentence(delivery === undefined ? 'why_best_hour_open' : 'why_time_came'));
  }
  if (local_time === 0) return rule(true, sentence('why_same_time'));
  if (delivery !== undefined && planned === null) return rule(true, sentence('why_time_came'));
  const place = client
    .prepare<[number | null], Place>(`SELECT ${placeColumns(client, account, 'c')} FROM contacts c WHERE c.id = ?`)
    .get(findContactAt(client, address));
  const zone = place === undefined ? null : findZone(place);
  const moment = planned ?? toUtc(schedule_date, schedule_time, zone ?? timeZone).getTime();
  const clock = wallClock(new Date(moment), zone ?? timeZone).time.slice(0, 'HH:MM'.length);
  const values = { time: timed(moment), clock, zone: zone ?? timeZone };
  return rule(
    moment <= now.getTime(),
    zone === null ? sentence('why_local_time_unknown', values) : sentence('why_local_time', values),
  );
}

function firstBatchRule(
  client: Database,
  { mailing, canary_percent: percent }: Timing,
  delivery: StoredDelivery | undefined,
): CheckedRule {
  const rule = (isMet: boolean, value: Said) => checked('canary', isMet, value, 'why_canary_change');
  const watch = mailing === null ? null : findWatch(client, mailing);
  if (watch === null || watch.canary_stage === null)
    return percent > 0 && mailing === null
      ? rule(true, sentence('why_canary_planned', { percent }))
      : rule(true, sentence('why_no_canary'));
  if (watch.canary_stage === 'released') return rule(true, sentence('why_canary_over'));
  if (delivery === undefined || delivery.state !== DELIVERY_STATE.queued || delivery.due !== DUE.atOnce)
    return rule(true, sentence('why_in_canary'));
  if (watch.canary_stage === 'choosing') return rule(false, sentence('why_canary_choosing'));
  const size = watch.canary_recipients;
  const until = watch.continues_at;
  return rule(
    false,
    until === null
      ? sentence('why_after_canary', { size })
      : sentence('why_after_canary_at', { size, time: minuteOf(until) }),
  );
}

function testRule(delivery: StoredDelivery | undefined): CheckedRule {
  const waits = delivery?.state === DELIVERY_STATE.queued && delivery.due === DUE.awaitsDecision;
  return checked('ab_test', !waits, sentence(waits ? 'why_awaits_winner' : 'why_no_winner_awaited'), 'why_test_change');
}
