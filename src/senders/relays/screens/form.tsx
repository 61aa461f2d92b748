/** The pages of one SMTP relay: add, change, test and delete. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../../../errors/failure.ts';
import type { ById } from '../../../http/pages/layout.ts';
import { Confirm } from '../../../ui/components/confirm.tsx';
import { form, SentForm } from '../../../ui/components/form.tsx';
import { Card, Notice } from '../../../ui/components/surface.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { ask, attempt } from '../../../ui/operations.ts';
import { recordScreens, type Submitted } from '../../../ui/record-screens.ts';
import { sendSettings } from '../../../ui/settings/frame.tsx';
import { requireOperator, viewerOf } from '../../../ui/signed-in.ts';
import { field } from '../../../ui/submitted.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { listSenders } from '../../operations/senders.ts';
import { deleteRelay, type Relay, readRelays, saveRelay, type Ways } from '../operations/relays.ts';
import { type RelayTest, testRelay } from '../operations/test-relay.ts';
import { TestCard, type TestForm } from './test-card.tsx';

const LIST_PATH = '/settings/sending';
const RELAY_FORM = form(saveRelay.input, [
  { name: 'name', label: 'smtp.field.name', hint: 'smtp.hint.name' },
  {
    name: 'host',
    label: 'smtp.field.host',
    hint: 'smtp.hint.host',
    attributes: { type: 'text', autocapitalize: 'none', spellcheck: false },
  },
  {
    name: 'security',
    label: 'smtp.field.security',
    hint: 'smtp.hint.security',
    option: (language, security) => language.say(`smtp.security.${security}`),
  },
  { name: 'port', label: 'smtp.field.port' },
  {
    name: 'username',
    label: 'smtp.field.username',
    hint: 'smtp.hint.username',
    attributes: { type: 'text', autocapitalize: 'none', spellcheck: false },
  },
  {
    name: 'password',
    label: 'smtp.field.password',
    hint: 'smtp.hint.password',
    attributes: { type: 'password', autocomplete: 'new-password' },
  },
  { name: 'rate', label: 'smtp.field.rate', hint: 'smtp.hint.rate', attributes: { type: 'text', required: true } },
  { name: 'connections', label: 'smtp.field.connections', attributes: { type: 'text', required: true } },
]);
const NEW_RELAY = { security: 'starttls', port: 587, rate: 0, connections: 20 };

/** Registers the pages that add, change and delete SMTP relays. */
export async function relayForms(app: FastifyInstance): Promise<void> {
  recordScreens(app, {
    path: LIST_PATH,
    form: RELAY_FORM,
    add: (request, values) => attempt(request, saveRelay, values),
    change: (request, values, id) => attempt(request, saveRelay, { ...values, id }),
    remove: (request, id) => attempt(request, deleteRelay, { id }),
    async show(request, reply, id, shown) {
      requireOperator(request);
      if (id !== null) return showOne(request, reply, id, shown);
      const { ways } = await ask(request, readRelays, {});
      return sendSettings(request, reply, 'sending', <RelayForm {...{ stored: null, ways, shown }} />, shown.problem);
    },
    done(reply, done, { id }) {
      setFlash(reply, 'good', `settings.done.relay${done}`);
      return reply.redirect(done === 'Deleted' ? LIST_PATH : `${LIST_PATH}/${encodeURIComponent(id)}`, 303);
    },
  });

  app.post<ById>(`${LIST_PATH}/:id/test`, async (request, reply) => {
    requireOperator(request);
    const { id } = request.params;
    const chosen = field(request, 'sender_id');
    const tested = await attempt(request, testRelay, { id, sender_id: chosen });
    if ('output' in tested) return showOne(request, reply, id, { chosen, ...tested.output });
    return showOne(request, reply, id, { chosen, status: tested.status, problem: tested.text });
  });

  /** Shows the page of a relay. `chosen` is the id of the sender used for the test, `test` the result of the test. */
  async function showOne(
    request: FastifyRequest,
    reply: FastifyReply,
    id: string,
    shown: Submitted & { chosen?: string; test?: RelayTest },
  ) {
    const [{ relays, ways }, senders] = await Promise.all([
      ask(request, readRelays, {}),
      ask(request, listSenders, {}),
    ]);
    const stored = relays.find((relay) => String(relay.id) === id);
    if (stored === undefined) throw notFound();
    const { status = 200, problem, test = null, chosen = String(senders[0]?.id ?? '') } = shown;
    const tested: TestForm = { relay: stored, senders, email: viewerOf(request).email, chosen, test };
    const next = relays.find((relay) => relay.id !== stored.id)?.name ?? null;
    return sendSettings(
      request,
      reply.code(status),
      'sending',
      <>
        {test !== null && <TestCard {...tested} />}
        <RelayForm {...{ stored, ways, shown }} />
        {test === null && <TestCard {...tested} />}
        <DeleteRelay {...{ relay: stored, next, ways }} />
      </>,
      problem,
    );
  }
}

/** The form of a relay. `stored` is the relay to change; null for a new relay. */
function RelayForm({
  stored,
  ways,
  shown: { values, problems },
}: {
  stored: Relay | null;
  ways: Ways;
  shown: Submitted;
}) {
  const language = useLanguage();
  const startsNow = stored === null && ways.queued > 0 && ways.environment.length === 0;
  return (
    <Card title={stored === null ? language.say('smtp.add') : language.say('smtp.change', { name: stored.name })}>
      {stored === null && ways.has_public_url === 0 && (
        <Notice tone="warn">
          {language.say('smtp.noAddress')} <a href={`${LIST_PATH}#address`}>{language.say('smtp.noAddress.go')}</a>
        </Notice>
      )}
      {startsNow && <Notice tone="warn">{language.say('smtp.queued', { count: ways.queued })}</Notice>}
      <SentForm
        form={RELAY_FORM}
        action={`${LIST_PATH}/${stored?.id ?? 'new'}`}
        values={values ?? stored ?? NEW_RELAY}
        problems={problems}
        {...(stored?.has_password === 1 && { hints: { password: language.say('smtp.hint.password.kept') } })}
        submit={language.say(stored === null ? 'smtp.add.submit' : 'smtp.save')}
        back={{ href: LIST_PATH, label: stored === null ? 'confirm.cancel' : 'smtp.back' }}
      />
    </Card>
  );
}

/** The delete button with its confirmation. `next` is the name of the relay that takes over; null if no other relay exists. */
function DeleteRelay({ relay, next, ways }: { relay: Relay; next: string | null; ways: Ways }) {
  const language = useLanguage();
  const { queued, environment } = ways;
  const usesStoredRelays = environment.length === 0;
  if (usesStoredRelays && next === null && queued > 0) {
    return <p class="quiet-text">{language.say('smtp.delete.refused', { count: queued })}</p>;
  }
  return (
    <p>
      <Confirm
        id="delete"
        action={`${LIST_PATH}/${relay.id}/delete`}
        label={language.say('smtp.delete')}
        title={language.say('smtp.delete.title', { name: relay.name })}
      >
        <p>{language.say('smtp.delete.text')}</p>
        {!usesStoredRelays && <p>{language.say('smtp.delete.unused')}</p>}
        {usesStoredRelays && queued === 0 && <p>{language.say('smtp.delete.none')}</p>}
        {usesStoredRelays && next === null && <p>{language.say('smtp.delete.last')}</p>}
        {usesStoredRelays && next !== null && queued > 0 && (
          <p>{language.say('smtp.delete.next', { count: queued, next })}</p>
        )}
      </Confirm>
    </p>
  );
}
