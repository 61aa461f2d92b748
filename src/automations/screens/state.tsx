/** Starting, pausing, duplicating and deleting an automation. Each says in numbers what happens. */
import type { FastifyInstance } from 'fastify';
import { LinkButton } from '../../dashboard/components/button.tsx';
import { Confirm } from '../../dashboard/components/confirm.tsx';
import { setFlash } from '../../dashboard/flash.ts';
import { ask, attempt, sentenceOf } from '../../dashboard/operations.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import type { Target } from '../../single-sends/screens/compose/choices.ts';
import {
  deleteAutomation,
  duplicateAutomation,
  pauseAutomation,
  setAutomationLive,
} from '../operations/automations.ts';
import type { Series } from '../operations/series.ts';
import { automationAddress, editAddress } from './changing.tsx';

const SEE_OTHER = 303;

interface ByUtr {
  Params: { utr: string };
}

export async function stateActions(app: FastifyInstance): Promise<void> {
  for (const [action, operation, done] of [
    ['start', setAutomationLive, 'automations.started'],
    ['pause', pauseAutomation, 'automations.paused'],
  ] as const) {
    app.post<ByUtr>(`/automations/:utr/${action}`, async (request, reply) => {
      const { utr } = request.params;
      const changed = await attempt(request, operation, { utr });
      if ('problems' in changed) setFlash(reply, 'bad', 'automations.refused', { reason: sentenceOf(changed) });
      else setFlash(reply, 'good', done);
      return reply.redirect(automationAddress(utr), SEE_OTHER);
    });
  }

  app.post<ByUtr>('/automations/:utr/duplicate', async (request, reply) => {
    const { utr } = await ask(request, duplicateAutomation, request.params);
    return reply.redirect(editAddress(utr), SEE_OTHER);
  });

  app.post<ByUtr>('/automations/:utr/delete', async (request, reply) => {
    await ask(request, deleteAutomation, request.params);
    setFlash(reply, 'good', 'automations.done.deleted');
    return reply.redirect('/automations', SEE_OTHER);
  });
}

/** What can be done with an automation as a whole. `target`: who enters it, undefined where it has none. */
export function Actions({ series, target }: { series: Series; target: Target | undefined }) {
  const language = useLanguage();
  const { utr, people } = series;
  const address = automationAddress(utr);
  const isReady = series.mails.length > 0 && series.unsubscribe_group_id !== 0 && target !== undefined;
  return (
    <div class="buttons">
      <LinkButton look={isReady ? 'plain' : 'primary'} href={editAddress(utr)}>
        {language.say('automations.edit')}
      </LinkButton>
      {series.is_live === 1 ? (
        <Confirm
          id="pause-automation"
          action={`${address}/pause`}
          label={language.say('automations.pause')}
          look="plain"
          title={language.say('automations.pause.title', { name: series.automation_name })}
        >
          <p>{language.say('automations.pause.about', { count: people.waiting })}</p>
          {people.queued > 0 && <p>{language.say('automations.pause.queued', { count: people.queued })}</p>}
        </Confirm>
      ) : (
        isReady && (
          <Confirm
            id="start-automation"
            action={`${address}/start`}
            label={language.say(people.waiting > 0 ? 'automations.goOn' : 'automations.start')}
            look="primary"
            title={language.say('automations.start.title', { name: series.automation_name })}
          >
            <p>{language.say('automations.start.about', { name: target.name })}</p>
            <p>{language.say('automations.start.notThese', { count: target.people })}</p>
            {people.waiting > 0 && <p>{language.say('automations.start.goOn', { count: people.waiting })}</p>}
            {people.due_now > 0 && <p>{language.say('automations.start.due', { count: people.due_now })}</p>}
          </Confirm>
        )
      )}
      <form method="post" action={`${address}/duplicate`}>
        <button type="submit" class="quiet">
          {language.say('automations.duplicate')}
        </button>
      </form>
      <Confirm
        id="delete-automation"
        action={`${address}/delete`}
        label={language.say('automations.delete')}
        title={language.say('automations.delete.title', { name: series.automation_name })}
      >
        <p>{language.say('automations.delete.about', { count: people.waiting })}</p>
      </Confirm>
    </div>
  );
}
