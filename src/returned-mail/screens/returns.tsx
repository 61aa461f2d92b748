/** The mail that comes back: the addresses at which mail providers report it, and whether it holds mailings. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Button } from '../../dashboard/components/button.tsx';
import { type Problems, SelectField, TextField } from '../../dashboard/components/field.tsx';
import { Card } from '../../dashboard/components/surface.tsx';
import { ask, attempt } from '../../dashboard/operations.ts';
import { backTo, sendSettings } from '../../dashboard/screens/settings/frame.tsx';
import { field } from '../../dashboard/sign-in/fields.ts';
import { viewerOf } from '../../dashboard/signed-in.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { MAIL_PROVIDERS } from '../../database/schema/index.ts';
import type { Deps } from '../../operations/deps.ts';
import { readResultLimits } from '../../sending-times/operations.ts';
import { HoldCard, holdSwitch } from '../../sending-times/screens/hold-card.tsx';
import { addIntake, deleteIntake, type Intake, listIntakes, listRoleMails } from '../operations.ts';
import { IntakeCard } from './intake-card.tsx';
import { RoleMailsCard, roleMailDeletion } from './role-mails.tsx';

/** What was typed into the form, without the key, and what is wrong with it. */
interface Typed {
  provider: string;
  problems: Problems;
}

const NOTHING: Typed = { provider: '', problems: {} };

export async function returnScreen(app: FastifyInstance, { clock }: Deps): Promise<void> {
  const show = async (request: FastifyRequest, reply: FastifyReply, typed = NOTHING, problem = '') => {
    const { intakes } = await ask(request, listIntakes, {});
    const { limits } = await ask(request, readResultLimits, {});
    const roleMails = viewerOf(request).isOperator ? await ask(request, listRoleMails, {}) : null;
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
    const added = await attempt(request, addIntake, { provider, secret: field(request, 'secret') });
    if ('output' in added) return backTo(reply, 'returns', 'settings.done.providerAdded');
    return show(request, reply.code(added.status), { provider, problems: added.problems }, added.problem);
  });

  app.post<{ Params: { id: string } }>('/settings/returns/:id/delete', async (request, reply) => {
    await ask(request, deleteIntake, request.params);
    return backTo(reply, 'returns', 'settings.done.providerDeleted');
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
          options={MAIL_PROVIDERS.map((value) => ({ value, label: language.say(`providers.name.${value}`) }))}
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
