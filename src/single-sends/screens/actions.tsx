/** What can be done with a campaign: pausing, resuming, cancelling, copying, retrying what failed, and putting it into the public archive. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type ArchivedMail, changeArchivedMail } from '../../archive/operations.ts';
import { Button, LinkButton } from '../../dashboard/components/button.tsx';
import { Confirm } from '../../dashboard/components/confirm.tsx';
import { Card } from '../../dashboard/components/surface.tsx';
import { setFlash } from '../../dashboard/flash.ts';
import { ask, attempt, sentenceOf } from '../../dashboard/operations.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { RESULT_HELD_CODES } from '../../database/schema/index.ts';
import type { Operation } from '../../operations/operation.ts';
import {
  cancelSingleSend,
  duplicateSingleSend,
  pauseSingleSend,
  resumeSingleSend,
  retryFailed,
} from '../operations/actions.ts';
import { type Report, readSummary, type Summary } from '../operations/reports.ts';

const SEE_OTHER = 303;

/** Registers the forms of a campaign's page. */
export async function campaignActions(app: FastifyInstance): Promise<void> {
  /** Registers one: `say` says on the next page what was done, `next` gives the campaign that it shows, if it is another one. */
  function on<Output>(
    action: string,
    operation: Operation<typeof pauseSingleSend.input, Output>,
    say: (reply: FastifyReply, output: Output, summary: Summary) => void,
    next?: (output: Output) => string,
  ): void {
    app.post<{ Params: { utr: string } }>(`/mailings/:utr/${action}`, async (request, reply) => {
      const { utr } = request.params;
      const summary = await ask(request, readSummary, { utr });
      const done = await attempt(request, operation, { utr });
      if ('problems' in done) setFlash(reply, 'bad', 'mailings.refused', { reason: sentenceOf(done) });
      else say(reply, done.output, summary);
      const shown = 'output' in done && next ? next(done.output) : utr;
      return reply.redirect(`/mailings/${encodeURIComponent(shown)}`, SEE_OTHER);
    });
  }

  on('pause', pauseSingleSend, (reply) => setFlash(reply, 'good', 'mailings.paused'));
  on('resume', resumeSingleSend, (reply) => setFlash(reply, 'good', 'mailings.resumed'));
  on('cancel', cancelSingleSend, (reply, _, { state }) =>
    setFlash(reply, 'good', state === 'scheduled' ? 'mailings.unscheduled' : 'mailings.isCancelled'),
  );
  on('retry-failed', retryFailed, (reply, { queued: count }) => setFlash(reply, 'good', 'mailings.retried', { count }));
  on(
    'duplicate',
    duplicateSingleSend,
    (reply, _, { single_send_name: name }) => setFlash(reply, 'good', 'mailings.duplicated', { name }),
    ({ utr }) => utr,
  );
}

/** The buttons for what the state allows. */
export function Actions({ summary, report }: { summary: Summary; report: Report }) {
  const language = useLanguage();
  const { state, utr } = summary;
  const { failed } = report.funnel;
  const isOver = state === 'done' || state === 'kept';
  const isLaunched = summary.recipients > 0 || state === 'preparing' || state === 'sending';
  const isHeldByResults = RESULT_HELD_CODES.some((code) => code === report.held_code);
  const plain = (action: 'pause' | 'resume' | 'duplicate', icon?: 'pause' | 'play') => (
    <form method="post" action={`/mailings/${utr}/${action}`}>
      <Button look={action === 'resume' && !isHeldByResults ? 'primary' : 'plain'} {...(icon && { icon })}>
        {action === 'resume' && isHeldByResults
          ? language.say('mailings.goOn', { count: summary.recipients - summary.finished })
          : language.say(`mailings.${action}`)}
      </Button>
    </form>
  );
  return (
    <div class="buttons">
      {['preparing', 'sending'].includes(state) && plain('pause', 'pause')}
      {['paused', 'held'].includes(state) && isLaunched && plain('resume', 'play')}
      {state === 'sending' && report.watch?.canary_stage === 'waiting' && (
        <form method="post" action={`/mailings/${utr}/resume`}>
          <Button look="primary">{language.say('mailings.first.release')}</Button>
        </form>
      )}
      {(['preparing', 'sending', 'paused', 'scheduled'].includes(state) ||
        (state === 'held' && (isLaunched || report.held_code === 'sender_unverified'))) && (
        <Cancel summary={summary} isLaunched={isLaunched} />
      )}
      {isOver && failed > 0 && (
        <Confirm
          id="retry"
          action={`/mailings/${utr}/retry-failed`}
          look="primary"
          label={language.say('mailings.retry', { count: failed })}
          title={language.say('mailings.retry.title', { count: failed })}
        >
          <p>{language.say('mailings.retry.text')}</p>
        </Confirm>
      )}
      {!isLaunched && ['draft', 'scheduled', 'held'].includes(state) && (
        <LinkButton href={`/mailings/${utr}/edit/audience`}>{language.say('compose.edit')}</LinkButton>
      )}
      {isOver && report.tracking === 1 && report.funnel.delivered > 0 && (
        <LinkButton href={`/mailings/${utr}/again`}>{language.say('mailings.again')}</LinkButton>
      )}
      {plain('duplicate')}
    </div>
  );
}

function Cancel({ summary: { utr, recipients, finished }, isLaunched }: { summary: Summary; isLaunched: boolean }) {
  const language = useLanguage();
  const count = recipients - finished;
  return (
    <Confirm
      id="cancel"
      action={`/mailings/${utr}/cancel`}
      label={isLaunched ? language.say('mailings.cancel', { count }) : language.say('mailings.cancelStart')}
      title={isLaunched ? language.say('mailings.cancel.title', { count }) : language.say('mailings.cancelStart.title')}
    >
      <p>
        {isLaunched
          ? language.say('mailings.cancel.text', { finished, count: recipients })
          : language.say('mailings.cancelStart.text')}
      </p>
    </Confirm>
  );
}

/** Registers the forms that put a campaign into the archive and take it out. */
export async function archiveActions(app: FastifyInstance): Promise<void> {
  for (const [action, is_archived, done] of [
    ['archive', 1, 'archive.done.added'],
    ['unarchive', 0, 'archive.done.removed'],
  ] as const)
    app.post<{ Params: { utr: string } }>(`/mailings/:utr/${action}`, async (request, reply) => {
      const { utr } = request.params;
      const changed = await attempt(request, changeArchivedMail, { utr, is_archived });
      if ('problems' in changed) setFlash(reply, 'bad', 'mailings.refused', { reason: sentenceOf(changed) });
      else setFlash(reply, 'good', done);
      return reply.redirect(`/mailings/${encodeURIComponent(utr)}`, SEE_OTHER);
    });
}

/** The card with its state; `mayChange` adds the button. */
export function ArchiveCard({ utr, archived, mayChange }: { utr: string; archived: ArchivedMail; mayChange: boolean }) {
  const language = useLanguage();
  const { is_archived: isArchived, url } = archived;
  return (
    <Card title={language.say('archive.mail')}>
      <p>
        {language.say(isArchived === 0 ? 'archive.mail.off' : url === null ? 'archive.mail.waits' : 'archive.mail.on')}{' '}
        {url !== null && <a href={url}>{url}</a>}
      </p>
      {mayChange && isArchived === 0 && (
        <form method="post" action={`/mailings/${utr}/archive`}>
          <Button look="plain">{language.say('archive.mail.add')}</Button>
        </form>
      )}
      {mayChange && isArchived === 1 && (
        <div>
          <Confirm
            id="unarchive"
            action={`/mailings/${utr}/unarchive`}
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
