/** The pages of one webhook: adding, changing, testing, switching and deleting it, its secret and its log. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../../../deps.ts';
import { notFound } from '../../../../failure.ts';
import { type ApiAnswer, ApiClient, refusalOf, refusalText } from '../../../api-client.ts';
import type { Problems } from '../../../components/field.tsx';
import { setFlash } from '../../../flash.ts';
import { field } from '../../../sign-in/fields.ts';
import { requireOwner } from '../../../signed-in.ts';
import { backTo, sendSettings } from '../frame.tsx';
import { NEW_WEBHOOK, type Values, WebhookForm } from './form.tsx';
import { type Asked, type Log, LogCard, TestCard } from './log.tsx';
import type { Attempt, Webhook } from './records.ts';
import { Danger, Secret, StateCard } from './state-card.tsx';

const LOG_ROWS = 25;

/** What a page shows beside what is stored: what was typed, what is wrong with it, and a secret that was just made. */
interface Shown {
  values?: Values;
  problems?: Problems;
  problem?: string;
  secret?: string;
}

interface ById {
  Params: { id: string };
  Querystring: { before?: string; result?: string; asked?: string; after?: string };
}

export async function webhookForms(app: FastifyInstance, { clock }: Deps): Promise<void> {
  const showNew = (request: FastifyRequest, reply: FastifyReply, shown: Shown = {}) => {
    const { values = NEW_WEBHOOK, problems = {}, problem = '' } = shown;
    const form = <WebhookForm id={null} values={values} problems={problems} />;
    return sendSettings(request, reply, 'webhooks', form, problem);
  };

  const showOne = async (
    request: FastifyRequest,
    reply: FastifyReply,
    id: string,
    { values, problems = {}, problem = '', secret }: Shown = {},
    query: ById['Querystring'] = {},
  ) => {
    const api = new ApiClient(app, request);
    const { webhooks } = await api.get<{ webhooks: Webhook[] }>('/webhooks');
    const webhook = webhooks.find((one) => String(one.id) === id);
    if (webhook === undefined) throw notFound();
    const [log, asked] = await Promise.all([readLog(api, id, query), readAsked(api, id, query)]);
    const now = clock.now();
    return sendSettings(
      request,
      reply,
      'webhooks',
      <>
        {secret !== undefined && <Secret secret={secret} />}
        <StateCard webhook={webhook} now={now} />
        <TestCard id={webhook.id} asked={asked} />
        <WebhookForm id={webhook.id} values={values ?? webhook} problems={problems} />
        <LogCard id={webhook.id} log={log} now={now} />
        <Danger webhook={webhook} />
      </>,
      problem,
    );
  };

  app.get('/settings/webhooks/new', (request, reply) => {
    requireOwner(request);
    return showNew(request, reply);
  });

  app.post('/settings/webhooks/new', async (request, reply) => {
    const values = typed(request);
    const answer = await save(request, values);
    if (answer.message === undefined) return showNew(request, reply.code(answer.status), refused(answer, values));
    const { id, secret } = answer.message;
    return showOne(request, reply, String(id), secret === null ? {} : { secret });
  });

  app.get<ById>('/settings/webhooks/:id', (request, reply) =>
    showOne(request, reply, request.params.id, {}, request.query),
  );

  app.post<ById>('/settings/webhooks/:id', async (request, reply) => {
    const { id } = request.params;
    const values = typed(request);
    const answer = await save(request, values, id);
    if (answer.message !== undefined) return backTo(reply, 'webhooks', 'settings.done.webhookChanged');
    return showOne(request, reply.code(answer.status), id, refused(answer, values));
  });

  app.post<ById>('/settings/webhooks/:id/switch', async (request, reply) => {
    const { id } = request.params;
    const isEnabled = field(request, 'is_enabled');
    const fields = { id, is_enabled: isEnabled };
    const answer = await new ApiClient(app, request).send('POST', '/webhooks/switch', fields);
    if (answer.message === undefined)
      return showOne(request, reply.code(answer.status), id, { problem: refusalText(answer) });
    setFlash(reply, 'good', isEnabled === '1' ? 'settings.done.webhookOn' : 'settings.done.webhookOff');
    return reply.redirect(`/settings/webhooks/${encodeURIComponent(id)}`, 303);
  });

  app.post<ById>('/settings/webhooks/:id/rotate', async (request, reply) => {
    const { id } = request.params;
    const api = new ApiClient(app, request);
    const answer = await api.send<{ secret: string }>('POST', '/webhooks/rotate-secret', { id });
    const secret = answer.message?.secret;
    return showOne(request, reply.code(answer.status), id, {
      problem: refusalText(answer),
      ...(secret !== undefined && { secret }),
    });
  });

  app.post<ById>('/settings/webhooks/:id/test', (request, reply) => sendOnce(request, reply, '/webhooks/test'));

  app.post<ById>('/settings/webhooks/:id/replay', (request, reply) =>
    sendOnce(request, reply, '/webhooks/replay', { event_id: field(request, 'event_id') }),
  );

  app.post<ById>('/settings/webhooks/:id/delete', async (request, reply) => {
    const { id } = request.params;
    const answer = await new ApiClient(app, request).send('POST', '/webhooks/delete', { id });
    if (answer.message !== undefined) return backTo(reply, 'webhooks', 'settings.done.webhookDeleted');
    return showOne(request, reply.code(answer.status), id, { problem: refusalText(answer) });
  });

  function save(request: FastifyRequest, values: Values, id?: string) {
    const fields = { ...values, ...(id !== undefined && { id }) };
    return new ApiClient(app, request).send<{ id: number; secret: string | null }>('POST', '/webhooks/save', fields);
  }

  /** Has a test or an event of the log sent, and leads to the page that awaits the answer. */
  async function sendOnce(request: FastifyRequest<ById>, reply: FastifyReply, path: string, fields = {}) {
    const { id } = request.params;
    const api = new ApiClient(app, request);
    const [newest] = await readAttempts(api, { id, limit: '1' });
    const answer = await api.send<{ event_id: number }>('POST', path, { id, ...fields });
    if (answer.message !== undefined) {
      const asked = new URLSearchParams({ asked: `${answer.message.event_id}`, after: `${newest?.id ?? 0}` });
      return reply.redirect(`/settings/webhooks/${encodeURIComponent(id)}?${asked}`, 303);
    }
    return showOne(request, reply.code(answer.status), id, { problem: refusalText(answer) });
  }
}

function readAttempts(api: ApiClient, query: Readonly<Record<string, string>>): Promise<Attempt[]> {
  return api.get<{ log: Attempt[] }>('/webhooks/log', query).then(({ log }) => log);
}

/** A page of the log, as the address of the page asks for it. */
async function readLog(api: ApiClient, id: string, { before, result }: ById['Querystring']): Promise<Log> {
  const onlyFailed = result === 'failed';
  const isLater = isNumber(before);
  const found = await readAttempts(api, {
    id,
    limit: `${LOG_ROWS + 1}`,
    ...(onlyFailed && { result: 'failed' }),
    ...(isLater && { before_id: before }),
  });
  const attempts = found.slice(0, LOG_ROWS);
  const href = (last?: Attempt) => {
    const query = { ...(onlyFailed && { result: 'failed' }), ...(last && { before: `${last.id}` }) };
    return `/settings/webhooks/${encodeURIComponent(id)}?${new URLSearchParams(query)}#log`;
  };
  const next = found.length > LOG_ROWS ? href(attempts.at(-1)) : null;
  return { attempts, onlyFailed, first: isLater ? href() : null, next };
}

/** What came of a test or replay: the attempt of its event behind those that were in the log before. */
async function readAsked(api: ApiClient, id: string, { asked, after }: ById['Querystring']): Promise<Asked | null> {
  if (!isNumber(asked) || !isNumber(after)) return null;
  const [newest] = await readAttempts(api, { id, event_id: asked, limit: '1' });
  return { eventId: Number(asked), attempt: newest !== undefined && newest.id > Number(after) ? newest : null };
}

function isNumber(text: string | undefined): text is string {
  return /^\d{1,15}$/.test(text ?? '');
}

/** What to show when the API refused a form. */
function refused(answer: ApiAnswer<unknown>, values: Values): Shown {
  return { values, ...refusalOf(answer) };
}

function typed(request: FastifyRequest): Values {
  const { body } = request;
  const events: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'events') : undefined;
  return {
    url: field(request, 'url').trim(),
    note: field(request, 'note'),
    events: [events].flat().filter((event) => typeof event === 'string'),
  };
}
