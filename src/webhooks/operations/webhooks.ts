/**
 * Operations by which owners list, add, change, switch, test and delete webhooks, give them new secrets, read their logs and send
 * events again. All are additions to the contract.
 */
import Type, { type Static } from 'typebox';
import { recordId } from '../../database/ownership.ts';
import { WEBHOOK_DISABLED_CODES } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { conflict, notFound } from '../../errors/failure.ts';
import { type Sentence, sentence } from '../../errors/sentences.ts';
import {
  choice,
  flag,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  optionalIdentifier,
  said,
  stamps,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { type AuditAction, auditBy } from '../../users/audit.ts';
import { urlFault } from '../addresses.ts';
import {
  addEndpoint,
  changeEndpoint,
  type DisabledCode,
  deleteEndpoint,
  disableEndpoint,
  type Endpoint,
  enableEndpoint,
  findEndpoint,
  listEndpoints,
  rotateSecret,
} from '../endpoints.ts';
import { countManual, countWaiting, lastFailure, listAttempts, MAX_MANUAL, queueTest, replayEvent } from '../log.ts';
import { WEBHOOK_EVENTS } from './event-types.ts';

const MAX_ENDPOINTS = 10;
const MAX_URL_CHARACTERS = 2000;
const DEFAULT_LIMIT = 100;

const Webhook = Type.Object({
  id: integer(),
  url: Type.String({ description: 'The URL to which events are sent.' }),
  note: Type.String({ description: 'What the owner noted about the webhook.' }),
  events: Type.Array(choice(...WEBHOOK_EVENTS), { description: 'The types of the events that are sent.' }),
  state: { ...choice('enabled', 'disabled'), description: 'disabled: no events are sent.' },
  disabled_code: nullable(choice(...WEBHOOK_DISABLED_CODES), 'Why no events are sent; null: the webhook is enabled.'),
  disabled_reason: nullable(said(), 'Why no events are sent, as a sentence; null: the webhook is enabled.'),
  waiting: integer({ description: 'How many events wait to be sent; 1000 means 1000 or more.' }),
  failures: integer({ description: 'How many attempts have failed since the last successful attempt.' }),
  succeeded_at: nullable(isoTimestampSchema(), 'When an attempt last succeeded, UTC; null: no attempt has succeeded.'),
  failed_at: nullable(isoTimestampSchema(), 'When an attempt last failed, UTC; null: no attempt has failed.'),
  failure: said('Why the last failed attempt failed; empty if the log has no failed attempt.'),
  previous_until: nullable(
    isoTimestampSchema(),
    'The end of the time in which the previous secret also signs, UTC; null: no previous secret signs.',
  ),
  ...stamps,
});
/** The fields of a webhook that its owner enters. */
const WebhookFields = {
  url: Type.String({
    maxLength: MAX_URL_CHARACTERS,
    format: 'one-line',
    description:
      'The URL to which events are sent. Must use https and lead to a public address, unless WEBHOOK_PRIVATE_ADDRESSES allows others.',
  }),
  note: Type.Optional(line({ description: 'What the webhook is for.' })),
  events: Type.Array(choice(...WEBHOOK_EVENTS), {
    maxItems: 100,
    description: 'The types of the events that are sent.',
  }),
};
const ById = { id: identifier('The webhook.') };
const LogEntry = Type.Object({
  id: integer(),
  event_id: integer({ description: 'The number at the end of the header webhook-id.' }),
  type: Type.String({ description: 'The type of the event.' }),
  attempt: integer({ description: 'The number of the attempt; 1 for the first.' }),
  is_success: zeroOrOne('1: the webhook accepted the event, with a status from 200 to 299.'),
  status: integer({ description: 'The HTTP status of the answer; 0: no answer came.' }),
  reply: said('The error, or the beginning of the answer; empty after a success.'),
  took_ms: integer({ description: 'Milliseconds from the beginning of the attempt to its end.' }),
  at: isoTimestampSchema('When the attempt began, UTC.'),
  is_kept: zeroOrOne('1: the event is still stored and can be sent again.'),
});
const SentEvent = Type.Object({ event_id: integer({ description: 'The id that the event has in the log.' }) });

export type Webhook = Static<typeof Webhook>;
export type LogEntry = Static<typeof LogEntry>;

export const listWebhooks = operation({
  name: 'List the webhooks (addition)',
  description: 'Secrets are not listed. A secret is only in the answer to the request that makes it.',
  role: 'owner',
  input: Type.Object({}),
  output: Type.Object({
    webhooks: Type.Array(Webhook, { description: 'The webhooks in the order in which they were added.' }),
  }),
  run: (context) => ({
    webhooks: listEndpoints(context.db, context.accountId).map((endpoint) => webhookRecord(context, endpoint)),
  }),
});

/** Used by the page of a webhook. */
export const readWebhook = operation({
  name: 'Read a webhook',
  role: 'owner',
  input: Type.Object(ById),
  run: (context, { id }) => webhookRecord(context, requireEndpoint(context, id)),
});

export const saveWebhook = operation({
  name: 'Add or change a webhook (addition)',
  description:
    'The webhook gets the events that happen from now on. No later answer contains the secret of a new webhook.',
  role: 'owner',
  input: Type.Object({
    id: optionalIdentifier('The webhook to change; without an id, a webhook is added.'),
    ...WebhookFields,
  }),
  output: Type.Object({
    id: integer(),
    secret: nullable(
      Type.String(),
      'The secret of a new webhook, which is not shown again; null if a webhook was changed.',
    ),
  }),
  check({ config }, { url, events }, errors) {
    const fault = url === undefined || url === '' ? null : urlFault(url, config.WEBHOOK_PRIVATE_ADDRESSES === 'allow');
    if (fault !== null) errors.add('url', FAULTS[fault]);
    if (events?.length === 0) errors.add('events', sentence('webhook_no_events'));
  },
  run(context, { id, url, note = '', events }) {
    const { db, clock, accountId } = context;
    const input = { url: new URL(url).href, note, events: WEBHOOK_EVENTS.filter((event) => events.includes(event)) };
    return write(context, () => {
      if (id !== undefined) {
        const endpoint = requireEndpoint(context, id);
        changeEndpoint(db, endpoint, input, clock.now());
        auditBy(context, 'webhook_changed', subjectOf(url));
        return { id: endpoint.id, secret: null };
      }
      if (listEndpoints(db, accountId).length >= MAX_ENDPOINTS)
        throw conflict(sentence('webhooks_many', { count: MAX_ENDPOINTS }));
      auditBy(context, 'webhook_added', subjectOf(url));
      return addEndpoint(db, accountId, input, clock.now());
    });
  },
});

export const deleteWebhook = operation({
  name: 'Delete a webhook with its log (addition)',
  description: 'Events that wait for the webhook are not sent.',
  role: 'owner',
  input: Type.Object(ById),
  run: (context, { id }) => change(context, id, 'webhook_removed', (endpoint) => deleteEndpoint(context.db, endpoint)),
});

export const switchWebhook = operation({
  name: 'Switch a webhook off or on (addition)',
  description:
    'A webhook that is switched on gets the events that waited when it was switched off. Of the events that happened while it was off, it gets only those that another webhook of the account gets, too.',
  role: 'owner',
  input: Type.Object({ ...ById, is_enabled: flag('1: events are sent; 0: no events are sent.') }),
  run: (context, { id, is_enabled }) =>
    change(context, id, 'webhook_switched', (endpoint) => {
      const { $client } = context.db;
      if (is_enabled === 0) disableEndpoint($client, endpoint.id, 'by_owner', context.clock.now());
      else if (endpoint.state === 'disabled') enableEndpoint($client, endpoint, context.clock.now());
    }),
});

export const rotateWebhookSecret = operation({
  name: 'Give a webhook a new secret (addition)',
  description: 'For 24 hours events carry two signatures: one with the new secret and one with the previous secret.',
  role: 'owner',
  input: Type.Object(ById),
  output: Type.Object({ secret: Type.String({ description: 'The new secret, which is not shown again.' }) }),
  run: (context, { id }) => ({
    secret: change(context, id, 'webhook_secret_rotated', (endpoint) =>
      rotateSecret(context.db, endpoint, context.clock.now()),
    ),
  }),
});

export const readWebhookLog = operation({
  name: 'List the attempts to send events to a webhook (addition)',
  description:
    'The newest attempts come first. The log keeps the last 1 000 successful and the last 1 000 failed attempts.',
  role: 'owner',
  input: Type.Object({
    ...ById,
    result: Type.Optional({ ...choice('all', 'failed'), description: 'failed: only attempts that failed.' }),
    limit: Type.Optional(
      integer({
        minimum: 1,
        maximum: 1000,
        description: `The maximum number of attempts; ${DEFAULT_LIMIT} by default.`,
      }),
    ),
    before_id: Type.Optional(integer({ description: 'Only attempts with a lower id.' })),
    event_id: Type.Optional(integer({ description: 'Only attempts of this event.' })),
  }),
  output: Type.Object({ log: Type.Array(LogEntry, { description: 'The attempts, the newest first.' }) }),
  run(context, { id, result, limit = DEFAULT_LIMIT, before_id: before = Number.MAX_SAFE_INTEGER, event_id }) {
    const endpoint = requireEndpoint(context, id);
    const filter = { before, limit, onlyFailed: result === 'failed', event: event_id ?? null };
    const attempts = listAttempts(context.db.$client, endpoint.id, filter);
    return { log: attempts.map(({ at, ...attempt }) => ({ ...attempt, at: isoTimestamp(new Date(at)) })) };
  },
});

export const testWebhook = operation({
  name: 'Send a test to a webhook (addition)',
  description:
    'An event of the type webhook.test is sent once, even if the webhook is switched off. The log shows the result.',
  role: 'owner',
  input: Type.Object(ById),
  output: SentEvent,
  run: (context, { id }) => ({
    event_id: sendOnce(context, id, (endpoint, now) => queueTest(context.db.$client, endpoint, now)),
  }),
});

export const replayWebhookEvent = operation({
  name: 'Send an event to a webhook again (addition)',
  description:
    'The event is sent once, with the same id and content as before, even if the webhook is switched off. The log shows the result.',
  role: 'owner',
  input: Type.Object({ ...ById, event_id: identifier('The event, by the id that it has in the log.') }),
  output: SentEvent,
  run(context, { id, event_id: eventId }) {
    const event_id = recordId(eventId);
    sendOnce(context, id, (endpoint, now) => {
      if (!replayEvent(context.db.$client, endpoint, event_id, now)) throw notFound();
    });
    return { event_id };
  },
});

/** The sentences for the results of `urlFault`. */
const FAULTS = {
  url: sentence('webhook_url'),
  plain: sentence('webhook_plain'),
  login: sentence('webhook_login'),
  private: sentence('webhook_private'),
} as const;

const REASONS: Record<DisabledCode, Sentence> = {
  by_owner: sentence('webhook_off_by_owner'),
  failing: sentence('webhook_off_failing'),
  gone: sentence('webhook_off_gone'),
  too_many: sentence('webhook_off_too_many'),
};

/** Runs `work` in one transaction, and wakes the webhooks thread. */
function write<T>({ db, wakeWebhooks }: Context, work: () => T): T {
  const result = inTransaction(db, work);
  wakeWebhooks();
  return result;
}

/** Runs `work`, which changes an endpoint, and writes an entry to the audit log. Throws 404 if there is no such endpoint. */
function change<T>(context: Context, id: unknown, action: AuditAction, work: (endpoint: Endpoint) => T): T {
  return write(context, () => {
    const endpoint = requireEndpoint(context, id);
    auditBy(context, action, subjectOf(endpoint.url));
    return work(endpoint);
  });
}

/** Runs `add`, which queues a test or a replay. Throws 404 if there is no such endpoint, and 409 if too many tests and replays wait. */
function sendOnce<T>(context: Context, id: unknown, add: (endpoint: Endpoint, now: number) => T): T {
  return write(context, () => {
    const endpoint = requireEndpoint(context, id);
    const count = countManual(context.db.$client, endpoint.id);
    if (count >= MAX_MANUAL) throw conflict(sentence('webhook_many_waiting', { count }));
    return add(endpoint, context.clock.now().getTime());
  });
}

/** Returns what the audit log stores of a URL: not the path and the query, because they often contain a secret. */
function subjectOf(url: string): string {
  return new URL(url).origin;
}

/** Returns the account's endpoint with this identifier. Throws 404 if there is none. */
function requireEndpoint({ db, accountId }: Context, id: unknown): Endpoint {
  const endpoint = findEndpoint(db, accountId, recordId(id));
  if (endpoint === undefined) throw notFound();
  return endpoint;
}

function webhookRecord({ db, clock }: Context, endpoint: Endpoint): Webhook {
  const { id, url, note, state, disabled_code, failures, previous_until, created_at, updated_at } = endpoint;
  return {
    id,
    url,
    note,
    state,
    disabled_code,
    failures,
    created_at,
    updated_at,
    events: WEBHOOK_EVENTS.filter((event) => endpoint.events.includes(event)),
    disabled_reason: disabled_code === null ? null : REASONS[disabled_code],
    waiting: countWaiting(db.$client, endpoint),
    failure: lastFailure(db.$client, id),
    succeeded_at: timestampOf(endpoint.succeeded_at),
    failed_at: timestampOf(endpoint.failed_at),
    previous_until: previous_until > clock.now().getTime() ? timestampOf(previous_until) : null,
  };
}

/** Formats epoch milliseconds as the timestamps of records. */
function timestampOf(at: number | null): string | null {
  return at === null ? null : isoTimestamp(new Date(at));
}
