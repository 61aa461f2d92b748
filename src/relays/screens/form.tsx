/** The pages of one relay: adding, changing, testing and deleting it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { setFlash } from '../../dashboard/flash.ts';
import { ask, attempt, type Refusal, sentenceOf } from '../../dashboard/operations.ts';
import { backTo, sendSettings } from '../../dashboard/screens/settings/frame.tsx';
import { field } from '../../dashboard/sign-in/fields.ts';
import { requireOperator, viewerOf } from '../../dashboard/signed-in.ts';
import { notFound } from '../../errors/failure.ts';
import { listSenders } from '../../senders/operations/senders.ts';
import { deleteRelay, readRelays, saveRelay } from '../operations/relays.ts';
import { type RelayTest, testRelay } from '../operations/test.ts';
import { DeleteRelay, NEW_RELAY, RelayForm, type Values, valuesOf } from './relay-form.tsx';
import { TestCard, type TestForm } from './test-card.tsx';

/** What a page shows beside what is stored: what was typed, what is wrong with it, and what a test found. */
type Shown = Partial<Refusal> & { values?: Values; chosen?: string; test?: RelayTest };

type ById = { Params: { id: string } };

export async function relayForms(app: FastifyInstance): Promise<void> {
  const showNew = async (request: FastifyRequest, reply: FastifyReply, shown: Shown = {}) => {
    const { ways } = await ask(request, readRelays, {});
    const { values = NEW_RELAY, problems = {}, problem = '' } = shown;
    const form = <RelayForm stored={null} {...{ values, problems, ways }} />;
    return sendSettings(request, reply, 'sending', form, problem);
  };

  const showOne = async (request: FastifyRequest<ById>, reply: FastifyReply, shown: Shown = {}) => {
    const [{ relays, ways }, senders] = await Promise.all([
      ask(request, readRelays, {}),
      ask(request, listSenders, {}),
    ]);
    const stored = relays.find(({ id }) => String(id) === request.params.id);
    if (stored === undefined) throw notFound();
    const { status = 200, values = valuesOf(stored), problems = {}, problem = '', test = null } = shown;
    const chosen = shown.chosen ?? String(senders[0]?.id ?? '');
    const tested: TestForm = { relay: stored, senders, email: viewerOf(request).email, chosen, test };
    const next = relays.find(({ id }) => id !== stored.id)?.name ?? null;
    return sendSettings(
      request,
      reply.code(status),
      'sending',
      <>
        {test !== null && <TestCard {...tested} />}
        <RelayForm {...{ stored, values, problems, ways }} />
        {test === null && <TestCard {...tested} />}
        <DeleteRelay {...{ relay: stored, next, ways }} />
      </>,
      problem,
    );
  };

  app.get('/settings/sending/new', (request, reply) => {
    requireOperator(request);
    return showNew(request, reply);
  });

  app.post('/settings/sending/new', async (request, reply) => {
    requireOperator(request);
    const values = typed(request);
    const added = await attempt(request, saveRelay, { ...values, password: field(request, 'password') });
    // A password that was typed is not shown again.
    if ('problems' in added) return showNew(request, reply.code(added.status), { values, ...added });
    setFlash(reply, 'good', 'settings.done.relayAdded');
    return reply.redirect(`/settings/sending/${added.output.id}`, 303);
  });

  app.get<ById>('/settings/sending/:id', (request, reply) => {
    requireOperator(request);
    return showOne(request, reply);
  });

  app.post<ById>('/settings/sending/:id', async (request, reply) => {
    requireOperator(request);
    const values = typed(request);
    const given = { ...values, password: field(request, 'password'), ...request.params };
    const changed = await attempt(request, saveRelay, given);
    if ('problems' in changed) return showOne(request, reply, { values, ...changed });
    setFlash(reply, 'good', 'settings.done.relayChanged');
    return reply.redirect(`/settings/sending/${changed.output.id}`, 303);
  });

  app.post<ById>('/settings/sending/:id/test', async (request, reply) => {
    requireOperator(request);
    const chosen = field(request, 'sender_id');
    const tested = await attempt(request, testRelay, { ...request.params, sender_id: chosen });
    if ('output' in tested) return showOne(request, reply, { chosen, ...tested.output });
    return showOne(request, reply, { chosen, status: tested.status, problem: sentenceOf(tested) });
  });

  app.post<ById>('/settings/sending/:id/delete', async (request, reply) => {
    requireOperator(request);
    const deleted = await attempt(request, deleteRelay, request.params);
    if ('output' in deleted) return backTo(reply, 'sending', 'settings.done.relayDeleted');
    return showOne(request, reply, { status: deleted.status, problem: sentenceOf(deleted) });
  });
}

function typed(request: FastifyRequest): Values {
  const value = (name: keyof Values) => field(request, name);
  return {
    name: value('name'),
    host: value('host'),
    security: value('security'),
    port: value('port'),
    username: value('username'),
    rate: value('rate'),
    connections: value('connections'),
  };
}
