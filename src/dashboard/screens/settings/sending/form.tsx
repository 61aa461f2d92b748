/** The pages of one relay: adding, changing, testing and deleting it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../../../../failure.ts';
import type { Sender } from '../../../../senders/operations/senders.ts';
import { type ApiAnswer, ApiClient, refusalOf, refusalText } from '../../../api-client.ts';
import type { Problems } from '../../../components/field.tsx';
import { setFlash } from '../../../flash.ts';
import { field } from '../../../sign-in/fields.ts';
import { requireOperator, viewerOf } from '../../../signed-in.ts';
import { backTo, sendSettings } from '../frame.tsx';
import type { RelayTest, Sending } from './records.ts';
import { DeleteRelay, NEW_RELAY, RelayForm, type Values, valuesOf } from './relay-form.tsx';
import { TestCard, type TestForm } from './test-card.tsx';

/** What a page shows beside what is stored: what was typed, what is wrong with it, and what a test found. */
interface Shown {
  values?: Values;
  problems?: Problems;
  problem?: string;
  chosen?: string;
  test?: RelayTest;
}

type ById = { Params: { id: string } };

export async function relayForms(app: FastifyInstance): Promise<void> {
  const showNew = async (request: FastifyRequest, reply: FastifyReply, shown: Shown = {}) => {
    const { ways } = await new ApiClient(app, request).get<Sending>('/relays');
    const { values = NEW_RELAY, problems = {}, problem = '' } = shown;
    const form = <RelayForm stored={null} {...{ values, problems, ways }} />;
    return sendSettings(request, reply, 'sending', form, problem);
  };

  const showOne = async (request: FastifyRequest<ById>, reply: FastifyReply, shown: Shown = {}) => {
    const api = new ApiClient(app, request);
    const [{ relays, ways }, { senders }] = await Promise.all([
      api.get<Sending>('/relays'),
      api.get<{ senders: Sender[] }>('/senders'),
    ]);
    const stored = relays.find(({ id }) => String(id) === request.params.id);
    if (stored === undefined) throw notFound();
    const { values = valuesOf(stored), problems = {}, problem = '', test = null } = shown;
    const chosen = shown.chosen ?? String(senders[0]?.id ?? '');
    const tested: TestForm = { relay: stored, senders, email: viewerOf(request).email, chosen, test };
    const next = relays.find(({ id }) => id !== stored.id)?.name ?? null;
    return sendSettings(
      request,
      reply,
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
    const answer = await save(request, values);
    if (answer.message === undefined) return showNew(request, reply.code(answer.status), refused(answer, values));
    setFlash(reply, 'good', 'settings.done.relayAdded');
    return reply.redirect(`/settings/sending/${answer.message.id}`, 303);
  });

  app.get<ById>('/settings/sending/:id', (request, reply) => {
    requireOperator(request);
    return showOne(request, reply);
  });

  app.post<ById>('/settings/sending/:id', async (request, reply) => {
    requireOperator(request);
    const values = typed(request);
    const answer = await save(request, values, request.params.id);
    if (answer.message === undefined) return showOne(request, reply.code(answer.status), refused(answer, values));
    setFlash(reply, 'good', 'settings.done.relayChanged');
    return reply.redirect(`/settings/sending/${answer.message.id}`, 303);
  });

  app.post<ById>('/settings/sending/:id/test', async (request, reply) => {
    requireOperator(request);
    const chosen = field(request, 'sender_id');
    const fields = { id: request.params.id, sender_id: chosen };
    const answer = await new ApiClient(app, request).send<{ test: RelayTest }>('POST', '/relays/test', fields);
    const test = answer.message?.test;
    return showOne(request, reply.code(answer.status), {
      chosen,
      problem: refusalText(answer),
      ...(test !== undefined && { test }),
    });
  });

  app.post<ById>('/settings/sending/:id/delete', async (request, reply) => {
    requireOperator(request);
    const answer = await new ApiClient(app, request).send('POST', '/relays/delete', { id: request.params.id });
    if (answer.message !== undefined) return backTo(reply, 'sending', 'settings.done.relayDeleted');
    return showOne(request, reply.code(answer.status), { problem: refusalText(answer) });
  });

  function save(request: FastifyRequest, values: Values, id?: string): Promise<ApiAnswer<{ id: number }>> {
    const fields = { ...values, password: field(request, 'password'), ...(id !== undefined && { id }) };
    return new ApiClient(app, request).send('POST', '/relays/save', fields);
  }
}

/** What to show when the API refused a form. A password that was typed is not shown again. */
function refused(answer: ApiAnswer<unknown>, values: Values): Shown {
  return { values, ...refusalOf(answer) };
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
