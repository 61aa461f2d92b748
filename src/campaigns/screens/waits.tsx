/** The notice that says why mails of a campaign or an automation wait, and until when. */
import type { PacedGroup } from '../../delivery/pacing/paced-groups.ts';
import type { LocalWait } from '../../delivery/timing/local-times.ts';
import type { WarmUpWait } from '../../delivery/warm-up/plans.ts';
import { Notice } from '../../ui/components/surface.tsx';
import { recordTime } from '../../ui/record-time.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import type { Report } from '../operations/reports.ts';

const SECONDS_PER_MINUTE = 60;
/** The rate in mails per minute from which on the page shows the rate per second. */
const PER_SECOND_FROM = 2 * SECONDS_PER_MINUTE;

type WaitsProps = Pick<Report, 'waits_until'> & Partial<Pick<Report, 'paced' | 'warm_up' | 'local_wait'>>;

/** The reasons why mails wait, with the times until which they wait; nothing if no mail waits. */
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
  const time = (text: string) => language.weekdayTime(recordTime(text) ?? new Date(text), zone);
  return language.say('local.waits', { count, next: time(next), last: time(last), zone });
}

function warmUpText(language: Language, warmUp: WarmUpWait): string {
  const { domain, today, sent_today: sent, waiting, expected_on: day } = warmUp;
  return language.say('campaigns.warmUp', {
    domain,
    today: language.say('campaigns.warmUp.today', { count: today }),
    sent: language.number(sent),
    waiting: language.say('campaigns.warmUp.waiting', { count: waiting }),
    day: language.calendarDate(day),
  });
}

function pacedText(language: Language, { group, per_minute, until }: PacedGroup): string {
  const rate =
    per_minute >= PER_SECOND_FROM
      ? language.say('campaigns.paced.second', { count: Math.round(per_minute / SECONDS_PER_MINUTE) })
      : language.say('campaigns.paced.minute', { count: per_minute });
  const time = recordTime(until);
  return language.say('campaigns.paced', { group, rate, time: time === null ? '' : language.dateTime(time) });
}
