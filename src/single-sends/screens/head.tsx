/** What is above every part of a campaign: its subject, state, start and progress, and the tabs between its parts. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren, VNode } from 'preact';
import { Button } from '../../dashboard/components/button.tsx';
import { StateBadge } from '../../dashboard/components/campaign-state.tsx';
import { Meter, Time } from '../../dashboard/components/figures.tsx';
import { Island } from '../../dashboard/components/island.tsx';
import { Notice, Tabs } from '../../dashboard/components/surface.tsx';
import { sendPage } from '../../dashboard/page.tsx';
import { recordTime } from '../../dashboard/record-time.ts';
import { viewerOf } from '../../dashboard/signed-in.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import type { Summary } from '../operations/reports.ts';

const PARTS = ['overview', 'links', 'preview', 'recipients'] as const;

/** A campaign that starts within this time is followed from before its start. */
const SOON_MS = 600_000;

/** Where a page stands: the campaign, the time, and which part of it is shown. */
interface Place {
  summary: Summary;
  now: Date;
  current: (typeof PARTS)[number];
}

/** The same, and whether the user may stop it. */
type HeadProps = Place & { mayStop: boolean };

/** Sends a part of a campaign as a page; `action` is what can be done with the campaign. */
export function sendPart(
  request: FastifyRequest,
  reply: FastifyReply,
  place: Place,
  content: VNode,
  action?: ComponentChildren,
) {
  const frame = {
    title: place.summary.single_send_name,
    section: 'mailings',
    back: { href: '/mailings', label: 'nav.mailings' },
    ...(action && { action }),
  } as const;
  const page = (
    <>
      <Head {...place} mayStop={viewerOf(request).role !== 'viewer'} />
      {content}
    </>
  );
  return sendPage(request, reply, viewerOf(request), frame, page);
}

function Head({ summary, now, current, mayStop }: HeadProps) {
  const language = useLanguage();
  const { utr, state, subject, starts_at: startsAt, held_reason: heldReason, recipients, finished } = summary;
  const progress = language.say('mailings.progress', { finished, count: recipients });
  const start = recordTime(startsAt);
  const isAhead = state === 'scheduled' || (start !== null && start > now);
  // What was held before it started has reached nobody.
  const isMissed = state === 'held' && recipients === 0;
  const startWord = isAhead ? 'mailings.starts' : isMissed ? 'mailings.wasToStart' : 'mailings.started';
  const shown = (
    <div id="mailing-now" class="stack" data-state={state}>
      <div class="mailing-head">
        <StateBadge state={state} />
        <bdi>{subject}</bdi>
        {state !== 'draft' && start !== null && (
          <span class="small quiet-text">
            {language.say(startWord)} <Time at={start} /> {language.zone}
          </span>
        )}
      </div>
      {state === 'scheduled' && start !== null && isSoon(start, now) && (
        <Countdown utr={utr} start={start} now={now} mayStop={mayStop} />
      )}
      {heldReason !== null && <Notice tone="warn">{language.sentence(heldReason)}</Notice>}
      {finished < recipients && (
        <div class="mailing-progress">
          <Meter label={progress} value={finished} max={recipients} />
          <p class="small quiet-text">
            <span data-live="progress">{progress}</span>
            <span data-live="pace" />
          </p>
        </div>
      )}
    </div>
  );
  return (
    <>
      {isUnderWay(summary, now) ? <Followed utr={utr}>{shown}</Followed> : shown}
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

/** How long until it leaves, with a button that stops it. The seconds are counted down in the browser. */
function Countdown({ utr, start, now, mayStop }: { utr: string; start: Date; now: Date; mayStop: boolean }) {
  const language = useLanguage();
  const seconds = Math.ceil((start.getTime() - now.getTime()) / 1000);
  const counting = { seconds, locale: language.locale, text: language.fill('compose.leaves', {}) };
  return (
    <div class="notice busy countdown">
      <span data-countdown={JSON.stringify(counting)}>
        {language.say('compose.leaves', { when: language.relative(start, now) })}
      </span>
      {mayStop && (
        <form method="post" action={`/mailings/${utr}/cancel`}>
          <Button look="primary">{language.say('compose.stop')}</Button>
        </form>
      )}
    </div>
  );
}

/** Follows the campaign in the browser while it is under way. */
function Followed({ utr, children }: { utr: string; children: ComponentChildren }) {
  const language = useLanguage();
  const texts = { progress: language.fill('mailings.progress', {}), pace: language.fill('mailings.pace', {}) };
  return (
    <Island name="live-progress" data={{ utr, locale: language.locale, ...texts }}>
      {children}
      <p class="visually-hidden" role="status" data-live="news" />
    </Island>
  );
}

/** Whether something may change while somebody looks. */
function isUnderWay({ state, starts_at: startsAt, recipients }: Summary, now: Date): boolean {
  // What was held before it started waits for somebody to change it.
  if (state === 'held') return recipients > 0;
  if (state === 'scheduled') return isSoon(recordTime(startsAt) ?? now, now);
  return !['draft', 'cancelled', 'done', 'kept'].includes(state);
}

const isSoon = (start: Date, now: Date) => start.getTime() < now.getTime() + SOON_MS;
