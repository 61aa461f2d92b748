/** What can be done with a mailing: pausing, resuming, cancelling, copying, and sending again to those for whom it failed. */
import type { FastifyInstance } from 'fastify';
import { ApiClient, refusalText } from '../../dashboard/api-client.ts';
import { Button, LinkButton } from '../../dashboard/components/button.tsx';
import { Confirm } from '../../dashboard/components/confirm.tsx';
import { setFlash } from '../../dashboard/flash.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { RESULT_HELD_CODES } from '../../database/schema/index.ts';
import { notFound } from '../../failure.ts';
import { type Report, readSummary, type Summary } from './records.ts';

const ACTIONS = ['pause', 'resume', 'cancel', 'duplicate', 'retry-failed'] as const;

/** Registers the forms of a mailing's page. */
export async function mailingActions(app: FastifyInstance): Promise<void> {
  app.post<{ Params: { utr: string; action: string } }>('/mailings/:utr/:action', async (request, reply) => {
    const { utr } = request.params;
    const action = ACTIONS.find((name) => name === request.params.action);
    if (action === undefined) throw notFound();
    const api = new ApiClient(app, request);
    const { single_send_name: name, state } = await readSummary(api, utr);
    const path = `/single/send/${action}?${new URLSearchParams({ utr })}`;
    const answer = await api.send<string | { queued: number }>('POST', path);
    const { message } = answer;
    if (message === undefined) {
      setFlash(reply, 'bad', 'mailings.refused', { reason: refusalText(answer) });
    } else if (typeof message === 'object') {
      setFlash(reply, 'good', 'mailings.retried', { count: message.queued });
    } else if (action === 'duplicate') {
      setFlash(reply, 'good', 'mailings.duplicated', { name });
    } else if (action === 'cancel') {
      setFlash(reply, 'good', state === 'scheduled' ? 'mailings.unscheduled' : 'mailings.isCancelled');
    } else {
      setFlash(reply, 'good', action === 'pause' ? 'mailings.paused' : 'mailings.resumed');
    }
    const copy = action === 'duplicate' ? new URLSearchParams(answer.location?.split('?')[1]).get('utr') : null;
    return reply.redirect(`/mailings/${encodeURIComponent(copy ?? utr)}`, 303);
  });
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
