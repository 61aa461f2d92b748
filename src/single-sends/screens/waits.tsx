/** Why some recipients of a campaign that is being sent, or of a live automation, have not got their mail yet. */

import { Notice } from '../../dashboard/components/surface.tsx';
import { recordTime } from '../../dashboard/record-time.ts';
import { type Language, useLanguage } from '../../dashboard/words/index.ts';
import type { PacedGroup } from '../../delivery/pacing/paced-groups.ts';
import type { LocalWait } from '../../delivery/timing/local-times.ts';
import type { WarmUpWait } from '../../delivery/warm-up/store.ts';
import type { Report } from '../operations/reports.ts';

const SECONDS_PER_MINUTE = 60;
/** In mails per minute. A rate of this or more is shown per second. */
const PER_SECOND_FROM = 2 * SECONDS_PER_MINUTE;

type WaitsProps = Pick<Report, 'waits_until'> & Partial<Pick<Report, 'paced' | 'warm_up' | 'local_wait'>>;

export function Waits({
  paced = [],
  warm_up: warmUp = null,
  waits_until: until,
  local_wait: local = null,
}: WaitsProps) {
  const language = useLanguage();
  const opens = recordTime(until);
  if (paced.length === 0 && warmUp === null && opens === null && local === null) return null;
  return (
    <Notice>
      {opens && (
        <p>{language.say('window.waits', { time: language.weekdayTime(opens, language.zone), zone: language.zone })}</p>
      )}
      {local !== null && <p>{localText(language, local)}</p>}
      {warmUp !== null && <p>{warmUpText(language, warmUp)}</p>}
      {paced.map((group) => (
        <p key={group.group}>{pacedText(language, group)}</p>
      ))}
    </Notice>
  );
}

function localText(language: Language, { people: count, next_at: next, last_at: last }: LocalWait): string {
  const { zone } = language;
  const time = (given: string) => language.weekdayTime(recordTime(given) ?? new Date(given), zone);
  return language.say('local.waits', { count, next: time(next), last: time(last), zone });
}

function warmUpText(language: Language, warmUp: WarmUpWait): string {
  const { domain, today, sent_today: sent, waiting, expected_on: day } = warmUp;
  return language.say('mailings.warmUp', {
    domain,
    today: language.say('mailings.warmUp.today', { count: today }),
    sent: language.number(sent),
    waiting: language.say('mailings.warmUp.waiting', { count: waiting }),
    day: language.calendarDate(day),
  });
}

function pacedText(language: Language, { group, per_minute, until }: PacedGroup): string {
  const rate =
    per_minute >= PER_SECOND_FROM
      ? language.say('mailings.paced.second', { count: Math.round(per_minute / SECONDS_PER_MINUTE) })
      : language.say('mailings.paced.minute', { count: per_minute });
  const time = recordTime(until);
  return language.say('mailings.paced', { group, rate, time: time === null ? '' : language.dateTime(time) });
}
