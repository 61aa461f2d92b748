/** What all pages of a campaign have in common: its subject, state and progress above the tabs, and the buttons of its actions. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren, VNode } from 'preact';
import { RESULT_HELD_CODES } from '../../database/schema/index.ts';
import type { ByUtr } from '../../http/pages/layout.ts';
import type { Operation } from '../../operations/operation.ts';
import { WhyHeld } from '../../senders/screens/unverified.tsx';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { StateBadge } from '../../ui/components/campaign-state.tsx';
import { Confirm } from '../../ui/components/confirm.tsx';
import { Meter, Time } from '../../ui/components/figures.tsx';
import { Island } from '../../ui/components/island.tsx';
import { Lark } from '../../ui/components/lark.tsx';
import { Subject } from '../../ui/components/subject.tsx';
import { Card, Tabs } from '../../ui/components/surface.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask, attempt } from '../../ui/operations.ts';
import { sendPage } from '../../ui/page.tsx';
import { recordTime } from '../../ui/record-time.ts';
import { viewerOf } from '../../ui/signed-in.ts';
import type { Viewer } from '../../ui/viewer.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { type ArchivedMail, changeArchivedMail } from '../archive/operations.ts';
import {
  cancelSingleSend,
  duplicateSingleSend,
  pauseSingleSend,
  resumeSingleSend,
  retryFailed,
} from '../operations/actions.ts';
import { type Report, readSummary, type Summary } from '../operations/reports.ts';

/** The pages of a campaign, which its tabs show. */
const PARTS = ['overview', 'links', 'preview', 'recipients'] as const;

/** The time in milliseconds before the start of a campaign from which on its page follows it. */
const SOON_MS = 600_000;

/** A page of a campaign. */
interface Place {
  summary: Summary;
  now: Date;
  current: (typeof PARTS)[number];
}

type HeadProps = Place & { viewer: Viewer };

/** Sends a page of a campaign. `action` is the menu of the campaign's actions. */
export function sendPart(
  request: FastifyRequest,
  reply: FastifyReply,
  place: Place,
  content: VNode,
  action?: ComponentChildren,
) {
  const frame = {
    title: place.summary.single_send_name,
    section: 'campaigns',
    back: { href: '/campaigns', label: 'nav.campaigns' },
    ...(action && { action }),
  } as const;
  const page = (
    <>
      <Head {...place} viewer={viewerOf(request)} />
      {content}
    </>
  );
  return sendPage(request, reply, viewerOf(request), frame, page);
}

/** The subject, state and progress of a campaign, and the tabs that link to its pages. */
function Head({ summary, now, current, viewer }: HeadProps) {
  const language = useLanguage();
  const { utr, state, subject, starts_at: startsAt, held_reason: heldReason, recipients, finished } = summary;
  const progress = language.say('campaigns.progress', { finished, count: recipients });
  const start = recordTime(startsAt);
  const startWord = startWordOf(summary, start, now);
  const status = (
    <div id="mailing-now" class="stack" data-state={state}>
      <div class="mailing-head">
        <StateBadge state={state} />
        <Subject text={subject} />
        {state !== 'draft' && start !== null && (
          <span class="small quiet-text">
            {language.say(startWord)} <Time at={start} /> {language.zone}
          </span>
        )}
      </div>
      {state === 'scheduled' && start !== null && isSoon(start, now) && (
        <Countdown utr={utr} start={start} now={now} mayStop={viewer.role !== 'viewer'} />
      )}
      <WhyHeld reason={heldReason} viewer={viewer} />
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
      {isUnderWay(summary, now) ? (
        <Followed utr={utr} isWaiting={state === 'scheduled'}>
          {status}
        </Followed>
      ) : (
        status
      )}
      <Tabs
        label={language.say('campaigns.name')}
        tabs={PARTS.map((part) => ({
          href: part === 'overview' ? `/campaigns/${utr}` : `/campaigns/${utr}/${part}`,
          label: language.say(`campaigns.part.${part}`),
          isCurrent: part === current,
        }))}
      />
    </>
  );
}

/** Returns the key of the word before the time of the start. */
function startWordOf({ state, recipients }: Summary, start: Date | null, now: Date) {
  if (state === 'scheduled' || (start !== null && start > now)) return 'campaigns.starts';
  // A campaign without recipients was held before it started.
  return state === 'held' && recipients === 0 ? 'campaigns.wasToStart' : 'campaigns.started';
}

/** The time until the campaign is sent, with a button to undo the send. The browser counts the seconds down. */
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
        <form method="post" action={`/campaigns/${utr}/cancel`}>
          <Button look="primary" label={language.say('compose.stop')} />
        </form>
      )}
    </div>
  );
}

/**
 * Makes the browser update the children while the campaign runs. With `isWaiting`, the campaign still waits for its start, at which the lark
 * will fly across the page once.
 */
function Followed({ utr, isWaiting, children }: { utr: string; isWaiting: boolean; children: ComponentChildren }) {
  const language = useLanguage();
  const texts = { progress: language.fill('campaigns.progress', {}), pace: language.fill('campaigns.pace', {}) };
  return (
    <Island name="live-progress" data={{ utr, locale: language.locale, ...texts }}>
      {children}
      <p class="visually-hidden" role="status" data-live="news" />
      {isWaiting && (
        <template data-live="leaving" data-text={language.say('campaigns.leaving')}>
          <div class="leaving">
            <Lark pose="flies" />
          </div>
        </template>
      )}
    </Island>
  );
}

/** Returns true if the campaign may change while the page is open. */
function isUnderWay({ state, starts_at: startsAt, recipients }: Summary, now: Date): boolean {
  // A campaign that was held before it started waits until a user changes it.
  if (state === 'held') return recipients > 0;
  if (state === 'scheduled') return isSoon(recordTime(startsAt) ?? now, now);
  return !['draft', 'cancelled', 'done', 'kept'].includes(state);
}

const isSoon = (start: Date, now: Date) => start.getTime() < now.getTime() + SOON_MS;

/** Registers the routes that pause, resume, cancel, retry and duplicate a campaign. */
export async function campaignActions(app: FastifyInstance): Promise<void> {
  /**
   * Registers the route of an action. `say` sets the message of the next page. `next` returns the utr of the campaign that the next page shows;
   * by default it shows the same campaign.
   */
  function on<Output>(
    action: string,
    operation: Operation<typeof pauseSingleSend.input, Output>,
    say: (reply: FastifyReply, output: Output, summary: Summary) => void,
    next?: (output: Output) => string,
  ): void {
    app.post<ByUtr>(`/campaigns/:utr/${action}`, async (request, reply) => {
      const { utr } = request.params;
      const summary = await ask(request, readSummary, { utr });
      const done = await attempt(request, operation, { utr });
      if ('problems' in done) setFlash(reply, 'bad', 'campaigns.refused', { reason: done.text });
      else say(reply, done.output, summary);
      const nextUtr = 'output' in done && next ? next(done.output) : utr;
      return reply.redirect(`/campaigns/${encodeURIComponent(nextUtr)}`, 303);
    });
  }

  on('pause', pauseSingleSend, (reply) => setFlash(reply, 'good', 'campaigns.paused'));
  on('resume', resumeSingleSend, (reply) => setFlash(reply, 'good', 'campaigns.resumed'));
  on('cancel', cancelSingleSend, (reply, _, { state }) =>
    setFlash(reply, 'good', state === 'scheduled' ? 'campaigns.unscheduled' : 'campaigns.isCancelled'),
  );
  on('retry-failed', retryFailed, (reply, { queued: count }) =>
    setFlash(reply, 'good', 'campaigns.retried', { count }),
  );
  on(
    'duplicate',
    duplicateSingleSend,
    (reply, _, { single_send_name: name }) => setFlash(reply, 'good', 'campaigns.duplicated', { name }),
    ({ utr }) => utr,
  );
}

/** The buttons of the actions that the state of the campaign allows. */
export function Actions({ summary, report, now }: { summary: Summary; report: Report; now: Date }) {
  const language = useLanguage();
  const { state, utr } = summary;
  const { failed } = report.funnel;
  const isOver = state === 'done' || state === 'kept';
  const isLaunched = summary.recipients > 0 || state === 'preparing' || state === 'sending';
  const isHeldByResults = RESULT_HELD_CODES.some((code) => code === report.held_code);
  const plain = (action: 'pause' | 'resume' | 'duplicate', icon?: 'pause' | 'play') => (
    <form method="post" action={`/campaigns/${utr}/${action}`}>
      <Button
        look={action === 'resume' && !isHeldByResults ? 'primary' : 'plain'}
        {...(icon && { icon })}
        label={
          action === 'resume' && isHeldByResults
            ? language.say('campaigns.goOn', { count: summary.recipients - summary.finished })
            : language.say(`campaigns.${action}`)
        }
      />
    </form>
  );
  return (
    <div class="buttons">
      {['preparing', 'sending'].includes(state) && plain('pause', 'pause')}
      {['paused', 'held'].includes(state) && isLaunched && plain('resume', 'play')}
      {state === 'sending' && report.watch?.canary_stage === 'waiting' && (
        <form method="post" action={`/campaigns/${utr}/resume`}>
          <Button look="primary" label={language.say('campaigns.first.release')} />
        </form>
      )}
      {(['preparing', 'sending', 'paused'].includes(state) ||
        // During the countdown, the countdown itself has the button that undoes the send.
        (state === 'scheduled' && !isSoon(recordTime(summary.starts_at) ?? now, now)) ||
        (state === 'held' && (isLaunched || report.held_code === 'sender_unverified'))) && (
        <Cancel summary={summary} isLaunched={isLaunched} />
      )}
      {isOver && failed > 0 && (
        <Confirm
          id="retry"
          action={`/campaigns/${utr}/retry-failed`}
          look="primary"
          label={language.say('campaigns.retry', { count: failed })}
          title={language.say('campaigns.retry.title', { count: failed })}
        >
          <p>{language.say('campaigns.retry.text')}</p>
        </Confirm>
      )}
      {!isLaunched && ['draft', 'scheduled', 'held'].includes(state) && (
        <LinkButton href={`/campaigns/${utr}/edit/audience`} label={language.say('compose.edit')} />
      )}
      {isOver && report.tracking === 1 && report.funnel.delivered > 0 && (
        <LinkButton
          look={failed > 0 ? 'plain' : 'primary'}
          href={`/campaigns/${utr}/again`}
          label={language.say('campaigns.again')}
        />
      )}
      {state === 'done' && report.ab_test === null && (
        <LinkButton look="plain" href={`/campaigns/${utr}/joined`} label={language.say('campaigns.joined')} />
      )}
      {plain('duplicate')}
    </div>
  );
}

/** The button that cancels a campaign, with a confirmation. `isLaunched` tells whether mails may have been sent already. */
function Cancel({ summary: { utr, recipients, finished }, isLaunched }: { summary: Summary; isLaunched: boolean }) {
  const language = useLanguage();
  const count = recipients - finished;
  return (
    <Confirm
      id="cancel"
      action={`/campaigns/${utr}/cancel`}
      label={isLaunched ? language.say('campaigns.cancel', { count }) : language.say('campaigns.cancelStart')}
      dismiss={language.say(isLaunched ? 'campaigns.cancel.keep' : 'campaigns.cancelStart.keep')}
      title={
        isLaunched ? language.say('campaigns.cancel.title', { count }) : language.say('campaigns.cancelStart.title')
      }
    >
      <p>
        {isLaunched
          ? language.say('campaigns.cancel.text', { finished, count: recipients })
          : language.say('campaigns.cancelStart.text')}
      </p>
    </Confirm>
  );
}

/** Registers the routes that add a campaign to the archive and remove it from the archive. */
export async function archiveActions(app: FastifyInstance): Promise<void> {
  for (const [action, is_archived, doneMessage] of [
    ['archive', 1, 'archive.done.added'],
    ['unarchive', 0, 'archive.done.removed'],
  ] as const)
    app.post<ByUtr>(`/campaigns/:utr/${action}`, async (request, reply) => {
      const { utr } = request.params;
      const changed = await attempt(request, changeArchivedMail, { utr, is_archived });
      if ('problems' in changed) setFlash(reply, 'bad', 'campaigns.refused', { reason: changed.text });
      else setFlash(reply, 'good', doneMessage);
      return reply.redirect(`/campaigns/${encodeURIComponent(utr)}`, 303);
    });
}

/** The card that says whether the campaign is in the archive. If `mayChange`, it has a button that adds or removes the campaign. */
export function ArchiveCard({ utr, archived, mayChange }: { utr: string; archived: ArchivedMail; mayChange: boolean }) {
  const language = useLanguage();
  const { is_archived: isArchived, url } = archived;
  const archivedText = url === null ? 'archive.mail.waits' : 'archive.mail.on';
  return (
    <Card title={language.say('archive.mail')}>
      <p>
        {language.say(isArchived === 0 ? 'archive.mail.off' : archivedText)} {url !== null && <a href={url}>{url}</a>}
      </p>
      {mayChange && isArchived === 0 && (
        <form method="post" action={`/campaigns/${utr}/archive`}>
          <Button look="plain" label={language.say('archive.mail.add')} />
        </form>
      )}
      {mayChange && isArchived === 1 && (
        <div>
          <Confirm
            id="unarchive"
            action={`/campaigns/${utr}/unarchive`}
            label={language.say('archive.mail.remove')}
            title={language.say('archive.mail.remove.title')}
          >
            <p>{language.say('archive.mail.remove.text')}</p>
          </Confirm>
        </div>
      )}
    </Card>
  );
}
