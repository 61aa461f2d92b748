/** When a campaign leaves: its first part, and the day and time of a later start, in a zone or in that of each recipient. */
import type { FastifyReply } from 'fastify';
import type { ComponentChildren } from 'preact';
import type { Static } from 'typebox';
import { Button } from '../../../dashboard/components/button.tsx';
import { type Problems, SelectField, TextField } from '../../../dashboard/components/field.tsx';
import { Island } from '../../../dashboard/components/island.tsx';
import { Card, Notice } from '../../../dashboard/components/surface.tsx';
import { setFlash } from '../../../dashboard/flash.ts';
import { recordTime } from '../../../dashboard/record-time.ts';
import { type Language, useLanguage } from '../../../dashboard/words/index.ts';
import { SINGLE_SEND_STATUS } from '../../../database/schema/index.ts';
import { FIRST_ZONE, type LocalTime } from '../../../delivery/timing/local-times.ts';
import { waitsUntil } from '../../../delivery/timing/send-window.ts';
import { canarySize, MIN_AUDIENCE } from '../../../delivery/watch/canary.ts';
import type { readWindow } from '../../../sending-times/operations.ts';
import { toUtc, wallClock } from '../../../time/zones.ts';
import type { Audience, Draft } from '../../operations/drafts.ts';
import { parseScheduleDate, parseScheduleTime } from '../../schedule.ts';
import { stepPath } from './frame.tsx';

export const LATER = 1;
/** The choice of the zone of each recipient. */
export const OWN_ZONES = 'own';
const DAY_MS = 86_400_000;

/** Day, time and zone as they were given. */
export interface When {
  date: string;
  time: string;
  zone: string;
}

/** The moment that was meant, or that for whom no zone is known; null where it is none, which the API says in its own words. */
export function findStart({ date, time, zone: given }: When, accountZone: string, ownZone: string): Date | null {
  const day = parseScheduleDate(date);
  const hour = parseScheduleTime(time);
  const zone = given === OWN_ZONES ? accountZone : given;
  return day === null || hour === null || ![accountZone, ownZone].includes(zone) ? null : toUtc(day, hour, zone);
}

/** Says on the next page for when a campaign was scheduled by the zones of its recipients, and until when it can be changed. */
export function sayBookedLocally(reply: FastifyReply, language: Language, local: LocalTime, now: Date): void {
  const { date, time, zone } = local;
  const shown = language.weekdayTime(toUtc(date, time, zone), zone);
  const first = toUtc(date, time, FIRST_ZONE);
  if (first <= now) setFlash(reply, 'warn', 'local.doneNow', { time: shown });
  else setFlash(reply, 'good', 'local.done', { time: shown, first: language.weekdayTime(first, zone), zone });
}

/** When mail of the account leaves. */
export type LeavingTimes = Static<typeof readWindow.output>;

/** That mail does not leave at this time. */
export function LeavingNotice({ times }: { times: LeavingTimes }) {
  const language = useLanguage();
  const opens = recordTime(times.waits_until);
  if (opens === null) return null;
  const { time_zone: zone } = times;
  return <Notice>{language.say('window.now', { time: language.weekdayTime(opens, zone), zone })}</Notice>;
}

/** Says on the next page for when a campaign was scheduled, and from when on it leaves if that is another time. */
export function sayBooked(
  reply: FastifyReply,
  language: Language,
  { window, time_zone }: LeavingTimes,
  start: Date,
  zone: string,
): void {
  const time = language.weekdayTime(start, zone);
  const opens = window && waitsUntil(window, start, time_zone);
  if (opens === null) setFlash(reply, 'good', 'compose.schedule.done', { time, zone });
  else setFlash(reply, 'warn', 'window.booked', { time, zone, opens: language.weekdayTime(opens, zone) });
}

interface LaterProps {
  draft: Draft;
  audience: Audience;
  caps: ComponentChildren;
  now: Date;
  when: When | undefined;
  problems: Problems | undefined;
}

export function Later({ draft, audience, caps, now, when, problems = {} }: LaterProps) {
  const language = useLanguage();
  const { recipients: count, with_zone: known } = audience;
  const isBooked = draft.status === SINGLE_SEND_STATUS.queued && draft.schedule_type === LATER;
  // UTC is the zone of an installation whose owner has set none: then it is the reader's own that is meant.
  const usualZone = draft.time_zone === 'UTC' ? language.zone : draft.time_zone;
  const tomorrow = wallClock(new Date(now.getTime() + DAY_MS), usualZone).date;
  const shown = when ?? {
    date: isBooked ? draft.schedule_date : tomorrow,
    time: isBooked ? draft.schedule_time.slice(0, 'HH:MM'.length) : '09:00',
    zone: !isBooked ? usualZone : draft.local_time === 1 ? OWN_ZONES : draft.time_zone,
  };
  const zones = [...new Set([draft.time_zone, language.zone])];
  // The API knows the fields by other names.
  const { schedule_date: date, schedule_time: time, local_time: zone } = problems;
  const named = { ...(date && { date }), ...(time && { time }), ...(zone && { zone }) };
  return (
    <Card title={language.say('compose.schedule.later')}>
      <Island name="weekday" data={{ locale: language.locale, zone: language.zone }}>
        <form method="post" action={stepPath(draft.utr, 'schedule')}>
          <div class="fields-in-row">
            <TextField
              name="date"
              type="date"
              label={language.say('compose.schedule.date')}
              value={shown.date}
              required
              problems={named}
            />
            <TextField
              name="time"
              type="time"
              label={language.say('compose.schedule.time')}
              value={shown.time}
              required
              problems={named}
            />
            <SelectField
              name="zone"
              label={language.say('compose.schedule.zone')}
              value={shown.zone}
              options={[
                ...zones.map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') })),
                { value: OWN_ZONES, label: language.say('local.option') },
              ]}
              problems={named}
            />
          </div>
          <p class="small quiet-text">
            {language.say('local.known', {
              known: language.number(known),
              others: language.number(count - known),
              zone: draft.time_zone,
            })}{' '}
            {language.say('local.about')}
          </p>
          <FirstPart name="first_later" draft={draft} count={count} />
          {caps}
          <p data-weekday role="status" />
          <Button look="plain" name="when" value="later">
            {language.say('compose.schedule.book', { count })}
          </Button>
          <input type="hidden" name="unchanged_since" value={draft.updated_at} />
        </form>
      </Island>
    </Card>
  );
}

const FIRST_PERCENTS = [0, 1, 2, 3, 4, 5];

/** How many get it first. A small audience gets it at once, and an A/B test begins with a part of its own. */
export function FirstPart({ name, draft, count }: { name: string; draft: Draft; count: number }) {
  const language = useLanguage();
  if (count < MIN_AUDIENCE || draft.variants > 1) return null;
  const label = (percent: number) =>
    percent === 0
      ? language.say('compose.schedule.first.none')
      : language.say('compose.schedule.first.part', {
          count: canarySize(count, percent),
          share: language.percent(percent / 100),
        });
  return (
    <SelectField
      name={name}
      label={language.say('compose.schedule.first')}
      hint={language.say('compose.schedule.first.hint')}
      value={String(draft.canary_percent)}
      options={FIRST_PERCENTS.map((percent) => ({ value: String(percent), label: label(percent) }))}
    />
  );
}
