/** The endpoints to which an account has its events sent (additions), for owners: list, add, change, switch, rotate, delete. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { isoTimestamp } from '../clock.ts';
import type { Db } from '../database/open.ts';
import { recordId } from '../database/ownership.ts';
import { WEBHOOK_DISABLED_CODES } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { conflict, notFound } from '../failure.ts';
import {
  choice,
  done,
  flag,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  optionalIdentifier,
  stamps,
  successWith,
} from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { SENTENCES, sentence } from '../sentences.ts';
import { type AuditAction, audit } from '../users/audit.ts';
import { urlFault } from '../webhooks/addresses.ts';
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
} from '../webhooks/endpoints.ts';
import { WEBHOOK_EVENTS } from '../webhooks/event-types.ts';
import { countWaiting, lastFailure } from '../webhooks/log.ts';

const MAX_ENDPOINTS = 10;
const MAX_URL_CHARACTERS = 2000;

const Webhook = Type.Object({
  id: integer(),
  url: Type.String({ description: 'Where events are sent.' }),
  note: Type.String({ description: 'What the owner noted about it.' }),
  events: Type.Array(choice(...WEBHOOK_EVENTS), { description: 'The events that are sent.' }),
  state: { ...choice('enabled', 'disabled'), description: 'disabled: it is sent nothing.' },
  disabled_code: { ...nullable(choice(...WEBHOOK_DISABLED_CODES)), description: 'Why it is sent nothing.' },
  disabled_reason: nullable(Type.String({ description: 'The same as a sentence.' })),
  waiting: integer({
    description: 'How many events wait for it, counted among the next 1000 of the account; 1000: as many or more.',
  }),
  failures: integer({ description: 'How many attempts have failed since the last that succeeded.' }),
  succeeded_at: { ...nullable(isoTimestampSchema()), description: 'When it last took an event, UTC.' },
  failed_at: { ...nullable(isoTimestampSchema()), description: 'When it last did not take one, UTC.' },
  failure: Type.String({ description: 'Why it did not, then; empty: it always did.' }),
  previous_until: {
    ...nullable(isoTimestampSchema()),
    description: 'Until then the secret before the last rotation signs, too, UTC.',
  },
  ...stamps,
});

const SaveBody = Type.Object({
  id: optionalIdentifier('The webhook that is changed; without it one is added.'),
  url: Type.String({
    maxLength: MAX_URL_CHARACTERS,
    format: 'one-line',
    description: 'Where events are sent: https, and a public address unless WEBHOOK_PRIVATE_ADDRESSES says otherwise.',
  }),
  note: Type.Optional(line({ description: 'What it is for.' })),
  events: Type.Array(choice(...WEBHOOK_EVENTS), {
    maxItems: 100,
    description: 'The events that are sent.',
  }),
});

type Caller = Pick<FastifyRequest, 'accountId' | 'actor'>;

const tags = ['Webhooks'];
const config = { role: 'owner' } as const;
const ById = Type.Object({ id: identifier('The webhook.') });

export const webhookRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { db, clock, wakeWebhooks } = deps;
  const allowPrivate = deps.config.WEBHOOK_PRIVATE_ADDRESSES === 'allow';

  app.get(
    '/webhooks',
    {
      schema: {
        tags,
        summary: 'List the webhooks (addition)',
        description: 'A secret is given when it is made and never again.',
        response: successWith({ webhooks: Type.Array(Webhook) }),
      },
      config,
    },
    async ({ accountId }) => {
      const webhooks = listEndpoints(db, accountId).map((endpoint) => shown(db, endpoint, clock.now().getTime()));
      return { status: 'success' as const, message: { webhooks } };
    },
  );

  app.post(
    '/webhooks/save',
    {
      schema: {
        tags,
        summary: 'Add a webhook or change one (addition)',
        description:
          'What happens from then on is sent there. The secret of a new one is in the answer, and never given again.',
        body: SaveBody,
        response: successWith({ id: integer(), secret: nullable(Type.String()) }),
      },
      config: {
        ...config,
        check: check(SaveBody, ({ url, events }, errors) => {
          const fault = url === undefined || url === '' ? null : urlFault(url, allowPrivate);
          if (fault !== null) errors.add('url', FAULTS[fault]);
          if (events?.length === 0) errors.add('events', SENTENCES.webhook_no_events);
        }),
      },
    },
    async (request) => {
      const message = db.transaction(() => save(request, request.body), { behavior: 'immediate' });
      wakeWebhooks();
      return { status: 'success' as const, message };
    },
  );

  app.post(
    '/webhooks/delete',
    {
      schema: {
        tags,
        summary: 'Delete a webhook with its log (addition)',
        description: 'What waits for it is not sent.',
        body: ById,
        response: done,
      },
      config,
    },
    async (request) => {
      change(request, 'webhook_removed', (endpoint) => deleteEndpoint(db, endpoint));
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );

  app.post(
    '/webhooks/switch',
    {
      schema: {
        tags,
        summary: 'Switch a webhook off or on (addition)',
        description:
          'One that is on again is sent what waited for it. What happened while it was off is not kept for it, except where another webhook asked for the same.',
        body: Type.Object({ ...ById.properties, is_enabled: flag('1: it is sent events; 0: it is sent none.') }),
        response: done,
      },
      config,
    },
    async (request) => {
      change(request, 'webhook_switched', (endpoint) => {
        if (request.body.is_enabled === 0) disableEndpoint(db.$client, endpoint.id, 'by_owner', clock.now());
        else if (endpoint.state === 'disabled') enableEndpoint(db.$client, endpoint, clock.now());
      });
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );

  app.post(
    '/webhooks/rotate-secret',
    {
      schema: {
        tags,
        summary: 'Give a webhook a new secret (addition)',
        description: 'For 24 hours events carry two signatures, one with each secret.',
        body: ById,
        response: successWith({ secret: Type.String() }),
      },
      config,
    },
    async (request) => {
      const secret = change(request, 'webhook_secret_rotated', (endpoint) => rotateSecret(db, endpoint, clock.now()));
      return { status: 'success' as const, message: { secret } };
    },
  );

  function recordInAudit({ accountId, actor }: Caller, action: AuditAction, url: string): void {
    audit(db, { accountId, actor, action, subject: subjectOf(url) }, clock.now());
  }

  /** Changes the endpoint that the body names, with an entry in the audit log, and wakes the thread. Throws 404. */
  function change<T>(
    request: Caller & { body: Static<typeof ById> },
    action: AuditAction,
    work: (endpoint: Endpoint) => T,
  ): T {
    const result = db.transaction(
      () => {
        const endpoint = requireEndpoint(db, request.accountId, request.body.id);
        recordInAudit(request, action, endpoint.url);
        return work(endpoint);
      },
      { behavior: 'immediate' },
    );
    wakeWebhooks();
    return result;
  }

  /** Stores what was given; gives the id, and the secret of a new one. Throws 404, and 409 when there are too many. */
  function save(request: Caller, { id, url, note = '', events }: Static<typeof SaveBody>) {
    const input = { url: new URL(url).href, note, events: WEBHOOK_EVENTS.filter((event) => events.includes(event)) };
    if (id !== undefined) {
      const endpoint = requireEndpoint(db, request.accountId, id);
      changeEndpoint(db, endpoint, input, clock.now());
      recordInAudit(request, 'webhook_changed', input.url);
      return { id: endpoint.id, secret: null };
    }
    if (listEndpoints(db, request.accountId).length >= MAX_ENDPOINTS)
      throw conflict(sentence('webhooks_many', { count: MAX_ENDPOINTS }));
    recordInAudit(request, 'webhook_added', input.url);
    return addEndpoint(db, request.accountId, input, clock.now());
  }
};

const FAULTS = {
  url: SENTENCES.webhook_url,
  plain: SENTENCES.webhook_plain,
  login: SENTENCES.webhook_login,
  private: SENTENCES.webhook_private,
} as const;

const REASONS: Record<DisabledCode, string> = {
  by_owner: SENTENCES.webhook_off_by_owner,
  failing: SENTENCES.webhook_off_failing,
  gone: SENTENCES.webhook_off_gone,
  too_many: SENTENCES.webhook_off_too_many,
};

/** The account's endpoint with this identifier. Throws 404. */
export function requireEndpoint(db: Db, accountId: number, given: unknown): Endpoint {
  const endpoint = findEndpoint(db, accountId, recordId(given));
  if (endpoint === undefined) throw notFound();
  return endpoint;
}

function shown(db: Db, endpoint: Endpoint, now: number): Static<typeof Webhook> {
  const { id, url, note, state, disabled_code, failures, created_at, updated_at } = endpoint;
  return {
    ...{ id, url, note, state, disabled_code, failures, created_at, updated_at },
    events: WEBHOOK_EVENTS.filter((event) => endpoint.events.includes(event)),
    disabled_reason: disabled_code === null ? null : REASONS[disabled_code],
    waiting: countWaiting(db.$client, endpoint),
    failure: lastFailure(db.$client, id),
    succeeded_at: moment(endpoint.succeeded_at),
    failed_at: moment(endpoint.failed_at),
    previous_until: endpoint.previous_until > now ? moment(endpoint.previous_until) : null,
  };
}

/** Epoch milliseconds as records have them. */
export function moment(at: number | null): string | null {
  return at === null ? null : isoTimestamp(new Date(at));
}

/** Without path and query, which often hold a secret. */
function subjectOf(url: string): string {
  return new URL(url).origin;
}
