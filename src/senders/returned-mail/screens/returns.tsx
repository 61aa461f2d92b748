/** The settings page for returned mail, with the URLs at which mail providers report events. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MAIL_PROVIDERS, type MailProvider } from '../../../database/schema/index.ts';
import { MAX_LINE_CHARACTERS } from '../../../errors/field-errors.ts';
import type { ById } from '../../../http/pages/layout.ts';
import type { Deps } from '../../../operations/deps.ts';
import { Button } from '../../../ui/components/button.tsx';
import { Confirm } from '../../../ui/components/confirm.tsx';
import { type Problems, SelectField, TextField } from '../../../ui/components/field.tsx';
import { Facts } from '../../../ui/components/figures.tsx';
import { Island, LiveNotes } from '../../../ui/components/island.tsx';
import { Badge, Card, Notice } from '../../../ui/components/surface.tsx';
import { ask, attempt } from '../../../ui/operations.ts';
import { recordTime } from '../../../ui/record-time.ts';
import { backTo, sendSettings } from '../../../ui/settings/frame.tsx';
import { viewerOf } from '../../../ui/signed-in.ts';
import { field } from '../../../ui/submitted.ts';
import { type PlainKey, useLanguage } from '../../../ui/words/index.ts';
import { HOUR_MS } from '../../../units.ts';
import { readResultLimits } from '../../sending-times/operations.ts';
import { AutoPauseCard, autoPauseSwitch } from '../../sending-times/screens/auto-pause.tsx';
import { addIntake, deleteIntake, type Intake, listIntakes, listRoleMails } from '../operations.ts';
import { RoleMailsCard, roleMailDeletion } from './role-mails.tsx';

/** The provider chosen in the form, and the errors of all fields. The secret is not shown again. */
interface Typed {
  provider: string;
  problems: Problems;
}

const NOTHING: Typed = { provider: '', problems: {} };

/** Registers the settings page for returned mail. */
export async function returnScreen(app: FastifyInstance, { clock }: Deps): Promise<void> {
  const show = async (request: FastifyRequest, reply: FastifyReply, typed = NOTHING, problem = '') => {
    const { intakes } = await ask(request, listIntakes, {});
    const { limits } = await ask(request, readResultLimits, {});
    const roleMails = viewerOf(request).isOperator ? await ask(request, listRoleMails, {}) : null;
    const content = (
      <>
        <Intakes intakes={intakes} now={clock.now()} />
        <NewIntake {...typed} />
        <AutoPauseCard limits={limits} mayChange />
        {roleMails !== null && <RoleMailsCard roleMails={roleMails} now={clock.now()} />}
      </>
    );
    return sendSettings(request, reply, 'returns', content, problem);
  };

  await autoPauseSwitch(app);
  await roleMailDeletion(app);
  app.get('/settings/returns', (request, reply) => show(request, reply));

  app.post('/settings/returns', async (request, reply) => {
    const provider = field(request, 'provider');
    const added = await attempt(request, addIntake, { provider, secret: field(request, 'secret') });
    if ('output' in added) return backTo(reply, 'returns', 'settings.done.providerAdded');
    return show(request, reply.code(added.status), { provider, problems: added.problems }, added.problem);
  });

  app.post<ById>('/settings/returns/:id/delete', async (request, reply) => {
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
          maxLength={MAX_LINE_CHARACTERS}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          problems={problems}
        />
        <Button label={language.say('providers.add.submit')} />
      </form>
    </Card>
  );
}

const TONES = { waits: 'plain', works: 'good', refuses: 'bad' } as const;
/** For this time after an intake was created, the page itself looks for the first event. */
const WATCH_MS = HOUR_MS;
/** How often the page looks for the first event. */
const WATCH_EVERY_MS = 5000;
/** What the user does in the provider's settings after copying the URL. */
const STEPS: Readonly<Record<MailProvider, readonly PlainKey[]>> = {
  ses: ['providers.step.ses.1', 'providers.step.ses.2', 'providers.step.ses.3'],
  mailgun: ['providers.step.mailgun.1', 'providers.step.mailgun.2'],
  postmark: ['providers.step.postmark.1', 'providers.step.postmark.2'],
  sendgrid: ['providers.step.sendgrid.1', 'providers.step.sendgrid.2'],
  brevo: ['providers.step.brevo.1', 'providers.step.brevo.2'],
  sparkpost: ['providers.step.sparkpost.1', 'providers.step.sparkpost.2'],
};
const COUNTS = [
  'permanent',
  'returned',
  'temporary',
  'complaints',
  'unsubscribes',
  'others',
  'unmatched',
  'duplicates',
  'refused',
] as const;

function IntakeCard({ intake, now }: { intake: Intake; now: Date }) {
  const language = useLanguage();
  const { id, provider, url } = intake;
  const isNew = now.getTime() - (recordTime(intake.created_at)?.getTime() ?? 0) < WATCH_MS;
  const isActive = isNew && intakeState(intake) !== 'works';
  const name = language.say(`providers.name.${provider}`);
  return (
    <div id={`provider-${id}`}>
      <Card title={name}>
        <State intake={intake} now={now} isActive={isActive} />
        {isActive && (
          <Island name="live" data={{ results: `#provider-${id} .provider-live`, every: WATCH_EVERY_MS }}>
            <LiveNotes />
          </Island>
        )}
        <p>{language.say('providers.address')}</p>
        <Island name="copy" data={{ label: language.say('providers.copy'), done: language.say('domains.copied') }}>
          <code class="once">{url}</code>
        </Island>
        <p class="quiet-text">{language.say('providers.secret')}</p>
        <details open={intakeState(intake) !== 'works'}>
          <summary>{language.say('providers.steps', { name })}</summary>
          <ol class="provider-steps">
            {STEPS[provider].map((step) => (
              <li key={step}>{language.say(step)}</li>
            ))}
          </ol>
          {intake.has_secret === 1 && provider !== 'mailgun' && provider !== 'sendgrid' && (
            <p>{language.say('providers.step.password')}</p>
          )}
        </details>
        <Confirm
          id={`delete-${id}`}
          action={`/settings/returns/${id}/delete`}
          label={language.say('providers.delete')}
          title={language.say('providers.delete.title', { name })}
        >
          <p>{language.say('providers.delete.text', { name })}</p>
        </Confirm>
      </Card>
    </div>
  );
}

/** Shows the state of an intake. While the first event is awaited, the page itself replaces this part again and again. */
function State({ intake, now, isActive }: { intake: Intake; now: Date; isActive: boolean }) {
  const language = useLanguage();
  const state = intakeState(intake);
  const eventAt = recordTime(intake.last_event_at);
  const refusedAt = recordTime(intake.last_refused_at);
  const counts = COUNTS.filter((name) => intake[name] > 0);
  return (
    <div
      id={`provider-${intake.id}-state`}
      class="provider-live"
      data-active={isActive ? 'yes' : 'no'}
      data-news={state === 'works' ? language.say('providers.state.works') : ''}
    >
      <p>
        <Badge tone={TONES[state]}>{language.say(`providers.state.${state}`)}</Badge>{' '}
        {eventAt !== null && (
          <span class="quiet-text">
            {language.say('providers.last', { event: intake.last_event ?? '', time: language.relative(eventAt, now) })}
          </span>
        )}
      </p>
      {isActive && state === 'waits' && <p class="quiet-text">{language.say('providers.watching')}</p>}
      {refusedAt !== null && intake.last_refusal !== null && (
        <Notice tone={state === 'refuses' ? 'bad' : 'warn'}>
          {language.say('providers.refusedLast', { time: language.relative(refusedAt, now) })}{' '}
          {language.say(`providers.refusal.${intake.last_refusal}`)}
        </Notice>
      )}
      {intake.provider === 'ses' && intake.topic !== null && (
        <p class="quiet-text browser">{language.say('providers.topic', { topic: intake.topic })}</p>
      )}
      {counts.length > 0 && (
        <Facts
          facts={counts.map((name) => ({
            label: language.say(`providers.count.${name}`),
            value: language.number(intake[name]),
          }))}
        />
      )}
    </div>
  );
}

/** Returns the state of an intake: it waits for its first event, works, or refused the latest request. */
function intakeState({ last_event_at: eventAt, last_refused_at: refusedAt }: Intake) {
  if (refusedAt !== null && (eventAt === null || refusedAt > eventAt)) return 'refuses';
  return eventAt === null ? 'waits' : 'works';
}
