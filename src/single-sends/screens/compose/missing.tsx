/** What a mailing still lacks before it can be sent, each with a link to where it is chosen. */
import { Notice } from '../../../dashboard/components/surface.tsx';
import { useLanguage } from '../../../dashboard/words/index.ts';
import type { missingParts } from './choices.ts';
import { stepAddress } from './frame.tsx';

const PLACES = {
  people: 'audience',
  sender: 'audience',
  group: 'audience',
  subject: 'content',
  preheader: 'content',
  content: 'content',
} as const;

export function MissingParts({ utr, missing }: { utr: string; missing: ReturnType<typeof missingParts> }) {
  const language = useLanguage();
  if (missing.length === 0) return <Notice tone="good">{language.say('compose.check.complete')}</Notice>;
  return (
    <Notice tone="warn">
      <p>{language.say('compose.schedule.missing')}</p>
      <ul>
        {missing.map((part) => (
          <li key={part}>
            <a href={stepAddress(utr, PLACES[part])}>{language.say(`compose.missing.${part}`)}</a>
          </li>
        ))}
      </ul>
    </Notice>
  );
}
