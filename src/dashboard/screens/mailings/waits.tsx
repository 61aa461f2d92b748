/** Why some people of a mailing that is being sent, or of an automation that is live, have no mail yet. */
import type { PacedGroup } from '../../../delivery/pacing/paced-groups.ts';
import type { WarmUpWait } from '../../../delivery/warm-up/store.ts';
import { Notice } from '../../components/surface.tsx';
import { recordTime } from '../../record-time.ts';
import { useLanguage } from '../../words/index.ts';
import type { Report } from './records.ts';

const SECONDS = 60;
/** From so many a minute on the rate is told by the second. */
const FAST = 2 * SECONDS;

type WaitsProps = Pick<Report, 'waits_until'> & Partial<Pick<Report, 'paced' | 'warm_up'>>;

export function Waits({ paced = [], warm_up: warmUp = null, waits_until: until }: WaitsProps) {
  const language = useLanguage();
  const opens = recordTime(until);
  if (paced.length === 0 && warmUp === null && opens === null) return null;
  return (
    <Notice>
      {opens && (
        <p>{language.say('window.waits', { time: language.weekdayTime(opens, language.zone), zone: language.zone })}</p>
      )}
      {warmUp !== null && <p>{warmUpText(language, warmUp)}</p>}
      {paced.map((group) => (
        <p key={group.group}>{pacedText(language, group)}</p>
      ))}
    </Notice>
  );
}

function warmUpText(language: ReturnType<typeof useLanguage>, warmUp: WarmUpWait): string {
  const { domain, today, sent_today: sent, waiting, expected_on: day } = warmUp;
  return language.say('mailings.warmUp', {
    domain,
    today: language.say('mailings.warmUp.today', { count: today }),
    sent: language.number(sent),
    waiting: language.say('mailings.warmUp.waiting', { count: waiting }),
    day: language.calendarDate(day),
  });
}

function pacedText(language: ReturnType<typeof useLanguage>, { group, per_minute, until }: PacedGroup): string {
  const rate =
    per_minute >= FAST
      ? language.say('mailings.paced.second', { count: Math.round(per_minute / SECONDS) })
      : language.say('mailings.paced.minute', { count: per_minute });
  const time = recordTime(until);
  return language.say('mailings.paced', { group, rate, time: time === null ? '' : language.dateTime(time) });
}
