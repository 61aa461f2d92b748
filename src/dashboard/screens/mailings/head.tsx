/** What is above every part of a mailing: its subject, state, start and progress, and the tabs between its parts. */
import { StateBadge } from '../../components/campaign-state.tsx';
import { Meter, Time } from '../../components/figures.tsx';
import { Notice, Tabs } from '../../components/surface.tsx';
import { recordTime } from '../../record-time.ts';
import { useLanguage } from '../../words/index.ts';
import type { Summary } from './records.ts';

type Part = 'overview' | 'recipients';
const PARTS: readonly Part[] = ['overview', 'recipients'];

export function Head({ summary, now, current }: { summary: Summary; now: Date; current: Part }) {
  const language = useLanguage();
  const { utr, state, subject, starts_at: startsAt, held_reason: heldReason, recipients, finished } = summary;
  const progress = language.say('mailings.progress', { finished, count: recipients });
  const start = recordTime(startsAt);
  return (
    <>
      <div class="mailing-head">
        <StateBadge state={state} />
        <bdi>{subject}</bdi>
        {state !== 'draft' && start !== null && (
          <span class="small quiet-text">
            {language.say(start > now ? 'mailings.starts' : 'mailings.started')} <Time at={start} /> {language.zone}
          </span>
        )}
      </div>
      {heldReason !== null && <Notice tone="warn">{heldReason}</Notice>}
      {finished < recipients && (
        <div class="mailing-progress">
          <Meter label={progress} value={finished} max={recipients} />
          <p class="small quiet-text">{progress}</p>
        </div>
      )}
      <Tabs
        label={language.say('mailings.name')}
        tabs={PARTS.map((part) => ({
          href: part === 'overview' ? `/mailings/${utr}` : `/mailings/${utr}/${part}`,
          label: language.say(`mailings.part.${part}`),
          isCurrent: part === current,
        }))}
      />
    </>
  );
}
