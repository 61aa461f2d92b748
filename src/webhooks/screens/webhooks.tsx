/**
 * The list of an account's webhooks, and the page of a webhook: its state and form, tests, its log, and the buttons that switch it,
 * rotate its secret and delete it.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TObject } from 'typebox';
import type { ById } from '../../http/pages/layout.ts';
import type { Operation } from '../../operations/operation.ts';
import type { UncheckedInput } from '../../operations/perform.ts';
import { LinkButton } from '../../ui/components/button.tsx';
import type { Problems } from '../../ui/components/field.tsx';
import { form, SentForm } from '../../ui/components/form.tsx';
import { Card, Empty } from '../../ui/components/surface.tsx';
import { Table } from '../../ui/components/table.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask, attempt } from '../../ui/operations.ts';
import { recordScreens, type Submitted } from '../../ui/record-screens.ts';
import { backTo, sendSettings } from '../../ui/settings/frame.tsx';
import { requireOwner } from '../../ui/signed-in.ts';
import { field } from '../../ui/submitted.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { EVENTS } from '../operations/event-types.ts';
import {
  deleteWebhook,
  type LogEntry,
  listWebhooks,
  readWebhook,
  readWebhookLog,
  replayWebhookEvent,
  rotateWebhookSecret,
  saveWebhook,
  switchWebhook,
  testWebhook,
  type Webhook,
} from '../operations/webhooks.ts';
import { type Log, LogCard, type Requested, TestCard } from './log.tsx';
import { DeleteButton, Secret, State, StateCard, waitingCount } from './state.tsx';

const LIST_PATH = '/settings/webhooks';
const LOG_ROWS = 25;
const WEBHOOK_FORM = form(saveWebhook.input, [
  {
    name: 'url',
    label: 'webhooks.field.url',
    hint: 'webhooks.hint.url',
    attributes: { type: 'url', autocapitalize: 'none', spellcheck: false },
  },
  { name: 'events', label: 'webhooks.field.events', control: Events },
  { name: 'note', label: 'webhooks.field.note', hint: 'webhooks.hint.note' },
]);

interface Call extends ById {
  Querystring: {
    /** The log shows attempts with lower ids. */
    before?: string;
    /** `failed`: the log shows only failed attempts. */
    result?: string;
    /** The id of the event that was just sent as a test or replay. */
    asked?: string;
    /** The id of the newest attempt before that event was sent; 0 if there was none. */
    after?: string;
  };
}

/** Registers the list of webhooks and the page of a webhook. */
export async function webhookScreens(app: FastifyInstance): Promise<void> {
  app.get(LIST_PATH, async (request, reply) => {
    const { webhooks } = await ask(request, listWebhooks, {});
    return sendSettings(request, reply, 'webhooks', <Webhooks webhooks={webhooks} now={app.deps.clock.now()} />);
  });

  /** Sends the page of a webhook. `secret` is a new secret, which is shown only once. */
  const showOne = async (
    request: FastifyRequest,
    reply: FastifyReply,
    id: string,
    content: Submitted & { secret?: string | null },
  ) => {
    const { status = 200, values, problems, problem, secret } = content;
    const webhook = await ask(request, readWebhook, { id });
    const query: Call['Querystring'] = Object(request.query);
    const [log, requested] = await Promise.all([readLog(request, id, query), readRequested(request, id, query)]);
    const now = app.deps.clock.now();
    return sendSettings(
      request,
      reply.code(status),
      'webhooks',
      <>
        {secret && <Secret id={webhook.id} secret={secret} />}
        <StateCard webhook={webhook} now={now} />
        <TestCard id={webhook.id} requested={requested} />
        <WebhookForm id={webhook.id} values={values ?? webhook} problems={problems} />
        <LogCard id={webhook.id} log={log} now={now} />
        <DeleteButton webhook={webhook} />
      </>,
      problem,
    );
  };

  recordScreens(app, {
    path: LIST_PATH,
    form: WEBHOOK_FORM,
    add: (request, values) => attempt(request, saveWebhook, values),
    change: (request, values, id) => attempt(request, saveWebhook, { ...values, id }),
    remove: (request, id) => attempt(request, deleteWebhook, { id }),
    show(request, reply, id, sent) {
      if (id !== null) return showOne(request, reply, id, sent);
      requireOwner(request);
      const { values = {}, problems, problem } = sent;
      return sendSettings(request, reply, 'webhooks', <WebhookForm id={null} {...{ values, problems }} />, problem);
    },
    done: (reply, done, { request, id, added }) =>
      added
        ? showOne(request, reply, id, added)
        : backTo(reply, 'webhooks', `settings.done.webhook${done === 'Deleted' ? done : 'Changed'}`),
  });

  app.post<ById>(`${LIST_PATH}/:id/switch`, async (request, reply) => {
    const { id } = request.params;
    const isEnabled = field(request, 'is_enabled');
    const switched = await attempt(request, switchWebhook, { id, is_enabled: isEnabled });
    if ('problems' in switched) return showOne(request, reply, id, { status: switched.status, problem: switched.text });
    setFlash(reply, 'good', isEnabled === '1' ? 'settings.done.webhookOn' : 'settings.done.webhookOff');
    return reply.redirect(`${LIST_PATH}/${encodeURIComponent(id)}`, 303);
  });

  app.post<ById>(`${LIST_PATH}/:id/rotate`, async (request, reply) => {
    const { id } = request.params;
    return showOne(request, reply, id, await ask(request, rotateWebhookSecret, { id }));
  });

  app.post<ById>(`${LIST_PATH}/:id/test`, (request, reply) => sendOnce(request, reply, testWebhook, request.params));

  app.post<ById>(`${LIST_PATH}/:id/replay`, (request, reply) =>
    sendOnce(request, reply, replayWebhookEvent, { ...request.params, event_id: field(request, 'event_id') }),
  );

  /** Performs `operation`, which sends a test or replays an event, and redirects to the page that waits for the result. */
  async function sendOnce<Input extends TObject>(
    request: FastifyRequest<ById>,
    reply: FastifyReply,
    operation: Operation<Input, { event_id: number }>,
    input: UncheckedInput<Input>,
  ) {
    const { id } = request.params;
    const [newest] = await readAttempts(request, { id, limit: 1 });
    const sent = await attempt(request, operation, input);
    if ('problems' in sent) return showOne(request, reply, id, { status: sent.status, problem: sent.problem });
    const query = new URLSearchParams({ asked: `${sent.output.event_id}`, after: `${newest?.id ?? 0}` });
    return reply.redirect(`${LIST_PATH}/${encodeURIComponent(id)}?${query}`, 303);
  }
}

async function readAttempts(
  request: FastifyRequest,
  filter: UncheckedInput<typeof readWebhookLog.input>,
): Promise<LogEntry[]> {
  return (await ask(request, readWebhookLog, filter)).log;
}

/** Returns the page of the log that the query string selects. */
async function readLog(request: FastifyRequest, id: string, { before, result }: Call['Querystring']): Promise<Log> {
  const onlyFailed = result === 'failed';
  const isOlderPage = isNumber(before);
  const entries = await readAttempts(request, {
    id,
    limit: LOG_ROWS + 1,
    ...(onlyFailed && { result }),
    ...(isOlderPage && { before_id: before }),
  });
  const attempts = entries.slice(0, LOG_ROWS);
  const href = (previous?: LogEntry) => {
    const query = { ...(onlyFailed && { result: 'failed' }), ...(previous && { before: `${previous.id}` }) };
    return `${LIST_PATH}/${encodeURIComponent(id)}?${new URLSearchParams(query)}#log`;
  };
  const next = entries.length > LOG_ROWS ? href(attempts.at(-1)) : null;
  return { attempts, onlyFailed, first: isOlderPage ? href() : null, next };
}

/** Returns the test or replay that the query string names, with its attempt if it has ended; null if the query string names none. */
async function readRequested(
  request: FastifyRequest,
  id: string,
  { asked, after }: Call['Querystring'],
): Promise<Requested | null> {
  if (!isNumber(asked) || !isNumber(after)) return null;
  const [newest] = await readAttempts(request, { id, event_id: asked, limit: 1 });
  return { eventId: Number(asked), attempt: newest !== undefined && newest.id > Number(after) ? newest : null };
}

function isNumber(text: string | undefined): text is string {
  return /^\d{1,15}$/.test(text ?? '');
}

/** The form of a webhook. `id` is null for a new webhook. */
function WebhookForm({ id, ...fields }: { id: number | null; values: object; problems: Problems | undefined }) {
  const language = useLanguage();
  return (
    <Card title={language.say(id === null ? 'webhooks.add' : 'webhooks.change')}>
      <SentForm
        form={WEBHOOK_FORM}
        action={`${LIST_PATH}/${id ?? 'new'}`}
        {...fields}
        values={{ ...fields.values }}
        look={id === null ? 'primary' : 'plain'}
        submit={language.say(id === null ? 'webhooks.add.submit' : 'webhooks.save')}
        back={{ href: LIST_PATH, label: id === null ? 'confirm.cancel' : 'webhooks.back' }}
      />
    </Card>
  );
}

/** The control of the field `events`: a checkbox for each event type, in groups. */
function Events({ label, value, problems }: { label: string; value: unknown; problems: Problems }) {
  const language = useLanguage();
  const chosen = [value].flat();
  const problem = problems.events?.join(' ');
  return (
    <fieldset {...(problem !== undefined && { 'aria-describedby': 'events-problem' })}>
      <legend>{label}</legend>
      {problem !== undefined && (
        <p class="field">
          <span class="problem" id="events-problem">
            {problem}
          </span>
        </p>
      )}
      {(['people', 'mails', 'sends'] as const).map((name) => (
        <fieldset key={name} class="webhook-events">
          <legend>{language.say(`webhooks.events.${name}`)}</legend>
          {EVENTS.filter(({ group }) => group === name).map(({ type, [language.code]: text }) => (
            <label key={type} class="choice">
              <input type="checkbox" name="events" value={type} checked={chosen.includes(type)} />
              <span>
                {text} <code class="quiet-text">{type}</code>
              </span>
            </label>
          ))}
        </fieldset>
      ))}
    </fieldset>
  );
}

function Webhooks({ webhooks, now }: { webhooks: readonly Webhook[]; now: Date }) {
  const language = useLanguage();
  const add = <LinkButton icon="plus" href={`${LIST_PATH}/new`} label={language.say('webhooks.add')} />;
  if (webhooks.length === 0)
    return (
      <Empty title={language.say('webhooks.none.title')} action={add}>
        {language.say('webhooks.none.text')}
      </Empty>
    );
  return (
    <>
      <p class="quiet-text">{language.say('webhooks.text')}</p>
      <Table
        caption={language.say('settings.webhooks')}
        rows={webhooks}
        keyOf={({ id }) => id}
        columns={[
          {
            heading: language.say('webhooks.field.url'),
            cell: ({ id, url, note }) => (
              <>
                <a class="browser" href={`${LIST_PATH}/${id}`}>
                  {url}
                </a>
                {note !== '' && <span class="quiet-text second-line browser">{note}</span>}
              </>
            ),
          },
          { heading: language.say('webhooks.state'), cell: (webhook) => <State webhook={webhook} now={now} /> },
          {
            heading: language.say('webhooks.field.events'),
            isNumber: true,
            cell: ({ events }) => language.number(events.length),
          },
          {
            heading: language.say('webhooks.waits'),
            isNumber: true,
            cell: (webhook) => waitingCount(language, webhook),
          },
        ]}
      />
      <p>{add}</p>
    </>
  );
}
