/** The relays kept in the file (addition), for operators: list, add, change, order, delete. A password is never given back. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, asc, count, eq, isNull } from 'drizzle-orm';
import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import type { Db } from '../database/open.ts';
import { recordId } from '../database/ownership.ts';
import { RELAY_SECURITY, relays, senders } from '../database/schema/index.ts';
import { publicAddress } from '../delivery/links/public-address.ts';
import { readGauges } from '../delivery/reporting/gauges.ts';
import {
  deleteRelay,
  keepsPassword,
  orderRelays,
  type StoredRelay,
  saveRelay,
} from '../delivery/transport/relays/changes.ts';
import { relaysInUse } from '../delivery/transport/relays/in-use.ts';
import { isPrivateHost } from '../delivery/transport/relays/plain-text.ts';
import { isLocal, parseRelayHost, relayName } from '../delivery/transport/smtp/relay-urls.ts';
import type { Deps } from '../deps.ts';
import { conflict, invalid, notFound } from '../failure.ts';
import { messages } from '../field-errors.ts';
import {
  choice,
  done,
  identifier,
  identifiers,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  optionalIdentifier,
  stamps,
  successWith,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { SENTENCES, sentence } from '../sentences.ts';
import { type AuditAction, audit } from '../users/audit.ts';

const MAX_RELAYS = 20;
const CONNECTIONS = 20;
const SECURITY = 'implicit: TLS from the start; starttls: STARTTLS or no mail; none: within a private network only.';

const Relay = Type.Object({
  id: integer(),
  name: Type.String({ description: 'What it is called in the dashboard.' }),
  host: Type.String({ description: 'Name or address of the mail server.' }),
  port: integer({ description: 'Its port.' }),
  security: { ...choice(...RELAY_SECURITY), description: SECURITY },
  username: Type.String({ description: 'Empty: no login.' }),
  has_password: { ...zeroOrOne(), description: '1: a password is stored.' },
  rate: integer({ description: 'Mails a second, at most; 0: no limit.' }),
  connections: integer({ description: 'Connections at a time, at most.' }),
  accepted_at: { ...nullable(isoTimestampSchema()), description: 'When it last took a mail, UTC, within a minute.' },
  answered_at: { ...nullable(isoTimestampSchema()), description: 'When a test of it last passed, UTC.' },
  failed_at: { ...nullable(isoTimestampSchema()), description: 'When it last could not be used, UTC.' },
  failure: { ...nullable(Type.String()), description: 'Why it could not be used then, in the words of the server.' },
  sender_ids: Type.Array(integer(), { description: 'The senders whose mail goes over it and no other relay.' }),
  ...stamps,
});

const Ways = Type.Object(
  {
    environment: Type.Array(Type.String(), {
      description: 'Host and port of the relays of SMTP_URL, which are used instead of those of the file.',
    }),
    has_public_url: { ...zeroOrOne(), description: '1: links in mails lead to a public address.' },
    queued: integer({ description: 'Mails that wait to be handed over, of all accounts.' }),
  },
  { description: 'What else decides where mail goes.' },
);

const SaveBody = Type.Object({
  id: optionalIdentifier('The relay that is changed; without it one is added.'),
  name: line({ description: 'What it is called.' }),
  host: line({ description: 'Name or address of the mail server, without the port.' }),
  port: integer({ minimum: 1, maximum: 65_535, description: 'Its port: mostly 587 or 465.' }),
  security: { ...choice(...RELAY_SECURITY), description: SECURITY },
  username: Type.Optional(line({ description: 'Empty: no login.' })),
  password: Type.Optional(
    line({ description: 'Empty keeps the stored one, which goes only to the host and port it was given for.' }),
  ),
  rate: Type.Optional(integer({ maximum: 1_000_000, description: 'Mails a second, at most; 0: no limit.' })),
  connections: Type.Optional(
    integer({ minimum: 1, maximum: 200, description: `Connections at a time, at most; ${CONNECTIONS} if not given.` }),
  ),
});

const tags = ['Installation'];
const config = { isForOperators: true } as const;

export const relayRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { db, clock, wake } = deps;

  const recordInAudit = ({ accountId, actor }: FastifyRequest, action: AuditAction, subject = '') =>
    audit(db, { accountId, actor, action, subject }, clock.now());

  app.get(
    '/relays',
    {
      schema: {
        tags,
        summary: 'List the relays in their order, and what else decides where mail goes (addition)',
        description: 'A password is never given back.',
        response: successWith({ relays: Type.Array(Relay), ways: Ways }),
      },
      config,
    },
    async () => {
      const rows = db.select().from(relays).orderBy(asc(relays.position), asc(relays.id)).all();
      const ways = {
        environment: deps.config.SMTP_URL === '' ? [] : relaysInUse(db.$client, deps.config).map(relayName),
        has_public_url: publicAddress(db.$client, deps.config).source === 'none' ? (0 as const) : (1 as const),
        queued: readGauges(db.$client).queued,
      };
      return {
        status: 'success' as const,
        message: { relays: rows.map((row) => ({ ...shown(row), sender_ids: sendersOf(row.id) })), ways },
      };
    },
  );

  app.post(
    '/relays/save',
    {
      schema: {
        tags,
        summary: 'Add a relay or change one (addition)',
        description: 'Mail goes through it from then on, without a restart, unless SMTP_URL names others.',
        body: SaveBody,
        response: successWith({ id: integer() }),
      },
      config: {
        ...config,
        check: check(SaveBody, (given, errors) => {
          const { host, security, username = '', password = '' } = given;
          const parsed = host === undefined ? null : parseRelayHost(host);
          if (host !== undefined && parsed === null) errors.add('host', SENTENCES.relay_host);
          if (parsed !== null && security === 'none' && !isPrivateHost(parsed))
            errors.add('security', SENTENCES.relay_plain);
          else if (parsed !== null && security === 'none' && username !== '' && !isLocal(parsed))
            errors.add('security', SENTENCES.relay_plain_login);
          if (username === '' && password !== '') errors.add('username', messages.required('username'));
        }),
      },
    },
    async (request) => {
      const id = db.transaction(() => save(request, request.body), { behavior: 'immediate' });
      wake();
      return { status: 'success' as const, message: { id } };
    },
  );

  app.post(
    '/relays/order',
    {
      schema: {
        tags,
        summary: 'Put the relays into an order (addition)',
        description: 'Mail goes to the first one that works.',
        body: Type.Object({ strIds: identifiers('The relays in their order; those left out follow.') }),
        response: done,
      },
      config,
    },
    async (request) => {
      db.transaction(
        () => {
          const ids = (request.body.strIds ?? []).map((given) => requireRelay(db, given).id);
          orderRelays(db, ids);
          recordInAudit(request, 'relays_ordered');
        },
        { behavior: 'immediate' },
      );
      wake();
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );

  app.post(
    '/relays/delete',
    {
      schema: {
        tags,
        summary: 'Delete a relay with its password (addition)',
        description:
          'Mail that waits goes through the next one. One that a sender names cannot be deleted, nor the last one while mail waits.',
        body: Type.Object({ id: identifier('The relay.') }),
        response: done,
      },
      config,
    },
    async (request) => {
      db.transaction(
        () => {
          const relay = requireRelay(db, request.body.id);
          const { length } = sendersOf(relay.id);
          if (length > 0) throw conflict(sentence('relay_named', { count: length }));
          const { queued } = readGauges(db.$client);
          const isLast = countRelays() === 1 && deps.config.SMTP_URL === '';
          if (isLast && queued > 0) throw conflict(sentence('relay_last', { count: queued }));
          deleteRelay(db, relay.id);
          recordInAudit(request, 'relay_removed', subjectOf(relay));
        },
        { behavior: 'immediate' },
      );
      wake();
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );

  /** The ids of the senders whose mail goes over this relay alone. */
  const sendersOf = (relayId: number) =>
    db
      .select({ id: senders.id })
      .from(senders)
      .where(and(eq(senders.relay_id, relayId), isNull(senders.deleted_at)))
      .all()
      .map(({ id }) => id);
  const countRelays = () => db.select({ count: count() }).from(relays).get()?.count ?? 0;

  /** Stores what was given and gives the id. Throws 404, 409 when there are too many, and 422 when the password is missing. */
  function save(request: FastifyRequest, { id, ...given }: Static<typeof SaveBody>): number {
    const before = id === undefined ? undefined : requireRelay(db, id);
    if (before === undefined && countRelays() >= MAX_RELAYS)
      throw conflict(sentence('relays_many', { count: MAX_RELAYS }));
    const { name, port, security, username = '', password = '', rate = 0, connections = CONNECTIONS } = given;
    const host = parseRelayHost(given.host) ?? given.host;
    if (username !== '' && password === '' && !keepsPassword(before, { host, port }))
      throw invalid(
        'password',
        before?.sealed_password ? SENTENCES.relay_password_again : messages.required('password'),
      );
    const relay = { name, host, port, security, username, password, rate, connections };
    const saved = saveRelay(db, before, relay, clock.now());
    recordInAudit(request, before === undefined ? 'relay_added' : 'relay_changed', subjectOf(relay));
    return saved;
  }
};

/** The relay with this identifier. Throws 404. */
export function requireRelay(db: Db, given: unknown): StoredRelay {
  const relay = db
    .select()
    .from(relays)
    .where(eq(relays.id, recordId(given)))
    .get();
  if (relay === undefined) throw notFound();
  return relay;
}

function shown({ sealed_password: sealed, position: _position, ...relay }: StoredRelay) {
  return { ...relay, has_password: sealed === null ? (0 as const) : (1 as const) };
}

function subjectOf({ name, host, port }: { name: string; host: string; port: number }): string {
  return `${name} (${host}:${port})`;
}
