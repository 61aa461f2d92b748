/** A new automation: its name, who enters it and its unsubscribe group; its mails come next. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { READ } from '../../../../http/pages/layout.ts';
import { type Choices, readChoices } from '../../../../single-sends/screens/compose/choices.ts';
import { type ApiAnswer, ApiClient, problemsOf } from '../../../api-client.ts';
import { Button, LinkButton } from '../../../components/button.tsx';
import type { Problems } from '../../../components/field.tsx';
import { Card } from '../../../components/surface.tsx';
import { languageOf, sendPage } from '../../../page.tsx';
import { field } from '../../../sign-in/fields.ts';
import { viewerOf } from '../../../signed-in.ts';
import { useLanguage } from '../../../words/index.ts';
import { editAddress } from './addresses.ts';
import { type AutomationFields, AutomationFieldset } from './form.tsx';

const SEE_OTHER = 303;

/** The fields of a form that was sent. */
export function givenFields(request: FastifyRequest): AutomationFields {
  const ignores_caps = field(request, 'ignores_caps');
  return {
    automation_name: field(request, 'automation_name').trim(),
    automation_for: field(request, 'automation_for'),
    unsubscribe_group_id: field(request, 'unsubscribe_group_id') || '0',
    exit_criteria: field(request, 'exit_criteria') === '1' ? '1' : '0',
    ...(ignores_caps !== '' && { ignores_caps }),
  };
}

export async function newAutomationScreen(app: FastifyInstance): Promise<void> {
  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    given?: AutomationFields,
    problems: Problems = {},
  ) => {
    const viewer = viewerOf(request);
    const choices = await readChoices(request);
    const title = languageOf(request, viewer).say('automations.new');
    const first = {
      automation_name: '',
      automation_for: '',
      unsubscribe_group_id: String(choices.groups[0]?.id ?? 0),
      exit_criteria: '0',
    };
    const content = <NewAutomation given={given ?? first} choices={choices} problems={problems} />;
    return sendPage(request, reply, viewer, { title, section: 'automations' }, content);
  };

  app.route({ method: READ, url: '/automations/new', handler: (request, reply) => show(request, reply) });

  app.post('/automations/new', async (request, reply) => {
    const given = givenFields(request);
    const answer: ApiAnswer<{ utr: string }> = await new ApiClient(app, request).send('POST', '/automations/create', {
      ...given,
      type: 'custom',
    });
    if (answer.message !== undefined) return reply.redirect(editAddress(answer.message.utr), SEE_OTHER);
    return show(request, reply.code(answer.status), given, problemsOf(answer, 'automation_name'));
  });
}

function NewAutomation({
  given,
  choices,
  problems,
}: {
  given: AutomationFields;
  choices: Choices;
  problems: Problems;
}) {
  const language = useLanguage();
  return (
    <Card>
      <p class="quiet-text">{language.say('automations.new.about')}</p>
      <form method="post" action="/automations/new" class="narrow">
        <AutomationFieldset given={given} choices={choices} problems={problems} />
        <div class="buttons">
          <Button>{language.say('automations.create')}</Button>
          <LinkButton look="quiet" href="/automations">
            {language.say('confirm.cancel')}
          </LinkButton>
        </div>
      </form>
    </Card>
  );
}
