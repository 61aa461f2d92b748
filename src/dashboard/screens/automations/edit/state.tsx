/** Starting, pausing, duplicating and deleting an automation. Each says in numbers what happens. */
import type { FastifyInstance } from 'fastify';
import type { Target } from '../../../../single-sends/screens/compose/choices.ts';
import { type ApiAnswer, ApiClient, refusalText } from '../../../api-client.ts';
import { LinkButton } from '../../../components/button.tsx';
import { Confirm } from '../../../components/confirm.tsx';
import { setFlash } from '../../../flash.ts';
import { useLanguage } from '../../../words/index.ts';
import { automationAddress, editAddress } from './addresses.ts';
import type { Series } from './series.ts';

const SEE_OTHER = 303;

interface ByUtr {
  Params: { utr: string };
}

export async function stateActions(app: FastifyInstance): Promise<void> {
  for (const [action, path, done] of [
    ['start', '/automations/set-live', 'automations.started'],
    ['pause', '/automations/pause', 'automations.paused'],
  ] as const) {
    app.post<ByUtr>(`/automations/:utr/${action}`, async (request, reply) => {
      const { utr } = request.params;
      const answer = await new ApiClient(app, request).send('GET', `${path}?${new URLSearchParams({ utr })}`);
      if (answer.message === undefined) setFlash(reply, 'bad', 'automations.refused', { reason: refusalText(answer) });
      else setFlash(reply, 'good', done);
      return reply.redirect(automationAddress(utr), SEE_OTHER);
    });
  }

  app.post<ByUtr>('/automations/:utr/duplicate', async (request, reply) => {
    const query = new URLSearchParams({ utr: request.params.utr });
    const { message }: ApiAnswer<{ utr: string }> = await new ApiClient(app, request).send(
      'GET',
      `/automations/duplicate?${query}`,
    );
    return reply.redirect(editAddress(message?.utr ?? request.params.utr), SEE_OTHER);
  });

  app.post<ByUtr>('/automations/:utr/delete', async (request, reply) => {
    const query = new URLSearchParams({ utr: request.params.utr });
    await new ApiClient(app, request).send('DELETE', `/automations/delete?${query}`);
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
