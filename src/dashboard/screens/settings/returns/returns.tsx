/** The mail that comes back: the addresses at which mail providers report it, and whether it holds mailings. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../../../deps.ts';
import { type ApiAnswer, ApiClient, refusalOf, refusalText } from '../../../api-client.ts';
import { Button } from '../../../components/button.tsx';
import { type Problems, SelectField, TextField } from '../../../components/field.tsx';
import { Card } from '../../../components/surface.tsx';
import { field } from '../../../sign-in/fields.ts';
import { viewerOf } from '../../../signed-in.ts';
import { useLanguage } from '../../../words/index.ts';
import { backTo, sendSettings } from '../frame.tsx';
import { HoldCard, holdSwitch, readResultLimits } from './hold-card.tsx';
import { IntakeCard } from './intake-card.tsx';
import { type Intake, PROVIDERS } from './records.ts';
import { type RoleMails, RoleMailsCard, roleMailDeletion } from './role-mails.tsx';

/** What was typed into the form, without the key, and what is wrong with it. */
interface Typed {
  provider: string;
  problems: Problems;
}

const NOTHING: Typed = { provider: '', problems: {} };

export async function returnScreen(app: FastifyInstance, { clock }: Deps): Promise<void> {
  const show = async (request: FastifyRequest, reply: FastifyReply, typed = NOTHING, problem = '') => {
    const api = new ApiClient(app, request);
    const { intakes } = await api.get<{ intakes: Intake[] }>('/provider-events');
    const limits = await readResultLimits(api);
    const roleMails = viewerOf(request).isOperator ? await api.get<RoleMails>('/role-mails') : null;
    const content = (
      <>
        <Intakes intakes={intakes} now={clock.now()} />
        <NewIntake {...typed} />
        <HoldCard limits={limits} mayChange />
        {roleMails !== null && <RoleMailsCard found={roleMails} now={clock.now()} />}
      </>
    );
    return sendSettings(request, reply, 'returns', content, problem);
  };

  await holdSwitch(app);
  await roleMailDeletion(app);
  app.get('/settings/returns', (request, reply) => show(request, reply));

  app.post('/settings/returns', async (request, reply) => {
    const provider = field(request, 'provider');
    const answer: ApiAnswer<{ id: number }> = await new ApiClient(app, request).send(
      'POST',
      '/provider-events/create',
      { provider, secret: field(request, 'secret') },
    );
    if (answer.message !== undefined) return backTo(reply, 'returns', 'settings.done.providerAdded');
    const { problems, problem } = refusalOf(answer);
    return show(request, reply.code(answer.status), { provider, problems }, problem);
  });

  app.post<{ Params: { id: string } }>('/settings/returns/:id/delete', async (request, reply) => {
    const path = `/provider-events/delete?${new URLSearchParams({ id: request.params.id })}`;
    const answer = await new ApiClient(app, request).send('DELETE', path);
    if (answer.message !== undefined) return backTo(reply, 'returns', 'settings.done.providerDeleted');
    return show(request, reply.code(answer.status), NOTHING, refusalText(answer));
  });
}

function Intakes({ intakes, now }: { intakes: readonly Intake[]; now: Date }) {
  const language = useLanguage();
  return (
    <section class="providers">
      <h2>{language.say('providers.title')}</h2>
      <p class="quiet-text">{language.say('providers.text')}</p>
      {intakes.map((intake) => (
        <IntakeCard key={intake.id} intake={intake} now={now} />
      ))}
    </section>
  );
}

function NewIntake({ provider, problems }: Typed) {
  const language = useLanguage();
  return (
    <Card title={language.say('providers.add')}>
      <form method="post" action="/settings/returns" class="narrow">
        <SelectField
          name="provider"
          label={language.say('providers.field.provider')}
          options={PROVIDERS.map((value) => ({ value, label: language.say(`providers.name.${value}`) }))}
          value={provider}
          problems={problems}
        />
        <TextField
          name="secret"
          label={language.say('providers.field.secret')}
          hint={language.say('providers.hint.secret')}
          maxLength={255}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          problems={problems}
        />
        <Button>{language.say('providers.add.submit')}</Button>
      </form>
    </Card>
  );
}
