/** Why some people of a mailing that is being sent have no mail yet. */
import type { PacedGroup } from '../../../delivery/pacing/paced-groups.ts';
import { Notice } from '../../components/surface.tsx';
import { recordTime } from '../../record-time.ts';
import { useLanguage } from '../../words/index.ts';

const SECONDS = 60;
/** From so many a minute on the rate is told by the second. */
const FAST = 2 * SECONDS;

export function Waits({ paced }: { paced: readonly PacedGroup[] }) {
  const language = useLanguage();
  if (paced.length === 0) return null;
  return (
    <Notice>
      {paced.map((group) => (
        <p key={group.group}>{pacedText(language, group)}</p>
      ))}
    </Notice>
  );
}

function pacedText(language: ReturnType<typeof useLanguage>, { group, per_minute, until }: PacedGroup): string {
  const rate =
    per_minute >= FAST
      ? language.say('mailings.paced.second', { count: Math.round(per_minute / SECONDS) })
      : language.say('mailings.paced.minute', { count: per_minute });
  const time = recordTime(until);
  return language.say('mailings.paced', { group, rate, time: time === null ? '' : language.dateTime(time) });
}
