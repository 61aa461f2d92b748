/** What a campaign still lacks before it can be sent, each with a link to where it is chosen. */
import { Notice } from '../../../dashboard/components/surface.tsx';
import { useLanguage } from '../../../dashboard/words/index.ts';
import type { Audience, Draft } from '../../operations/drafts.ts';
import { stepPath } from './frame.tsx';

const MISSING = ['people', 'sender', 'group', 'subject', 'preheader', 'content'] as const;
type Missing = (typeof MISSING)[number];

type Needed = Pick<Draft, 'sender_id' | 'unsubscribe_group_id' | 'subject' | 'preheader' | 'content'>;

/** What a send still lacks, in the order of the steps. */
export function missingParts(draft: Needed, audience: Audience): Missing[] {
  const has: Record<Missing, boolean> = {
    people: audience.recipients > 0,
    sender: draft.sender_id !== 0,
    group: draft.unsubscribe_group_id !== 0,
    subject: draft.subject !== '',
    preheader: draft.preheader !== '',
    content: draft.content !== 'none',
  };
  return MISSING.filter((part) => !has[part]);
}

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
            <a href={stepPath(utr, PLACES[part])}>{language.say(`compose.missing.${part}`)}</a>
          </li>
        ))}
      </ul>
    </Notice>
  );
}
