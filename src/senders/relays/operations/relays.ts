/** Operations that list, add, change, order and delete the stored SMTP relays (addition), for operators. Passwords are never returned. */
import { and, asc, count, eq, isNull } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import type { Db } from '../../../database/open.ts';
import { recordId } from '../../../database/ownership.ts';
import { RELAY_SECURITY, relays, senders } from '../../../database/schema/index.ts';
import { writeAndWake } from '../../../database/transaction.ts';
import { findPublicUrl } from '../../../delivery/links/public-url.ts';
import { readGauges } from '../../../delivery/reporting/gauges.ts';
import {
  keepsPassword,
  deleteRelay as removeRelay,
  type StoredRelay,
  orderRelays as storeOrder,
  saveRelay as storeRelay,
} from '../../../delivery/transport/relays/changes.ts';
import { relaysInUse } from '../../../delivery/transport/relays/in-use.ts';
import { isPrivateHost } from '../../../delivery/transport/relays/without-tls.ts';
import { isLocal, parseRelayHost, relayName } from '../../../delivery/transport/smtp/relay-urls.ts';
import { conflict, invalid, notFound } from '../../../errors/failure.ts';
import { messages } from '../../../errors/field-errors.ts';
import { sentence } from '../../../errors/sentences.ts';
import {
  choice,
  identifier,
  identifiers,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  optionalIdentifier,
  stamps,
  zeroOrOne,
} from '../../../http/requests/schemas.ts';
import { operation } from '../../../operations/operation.ts';
import { auditBy } from '../../../users/audit.ts';

const MAX_RELAYS = 20;
/** How many connections at a time a relay gets if the request does not say. */
const DEFAULT_CONNECTIONS = 20;
const SECURITY = 'implicit: TLS from the start; starttls: STARTTLS or no mail; none: within a private network only.';

const Relay = Type.Object({
  id: integer(),
  name: Type.String({ description: 'Name of the SMTP server in the dashboard.' }),
  host: Type.String({ description: 'Host name or IP address.' }),
  port: integer({ description: 'Port.' }),
  security: { ...choice(...RELAY_SECURITY), description: SECURITY },
  username: Type.String({ description: 'Empty: no login.' }),
  has_password: zeroOrOne('1: a password is stored.'),
  rate: integer({ description: 'E-mails a second, at most; 0: no limit.' }),
  connections: integer({ description: 'Connections at a time, at most.' }),
  accepted_at: nullable(isoTimestampSchema(), 'When the server last accepted an e-mail, UTC, to the minute.'),
  answered_at: nullable(isoTimestampSchema(), 'When the server last passed a test, UTC.'),
  failed_at: nullable(isoTimestampSchema(), 'When the server last could not be used, UTC.'),
  failure: nullable(Type.String(), 'Why the server could not be used then, in its own words.'),
  sender_ids: Type.Array(integer(), { description: 'The senders whose e-mail goes through this SMTP server only.' }),
  ...stamps,
});

/** What decides where mail goes, in addition to the relays and their order. */
const Ways = Type.Object(
  {
    environment: Type.Array(Type.String(), {
      description: 'Host and port of the SMTP servers in SMTP_URL, which are used instead of the stored ones.',
    }),
    has_public_url: zeroOrOne('1: links in e-mails lead to a public address.'),
    queued: integer({ description: 'E-mails that wait to be handed over, of all accounts.' }),
  },
  { description: 'What else decides where mail goes.' },
);

const RelayFields = {
  name: line({ description: 'Name in the dashboard.' }),
  host: line({ description: 'Host name or IP address, without the port.' }),
  port: integer({ minimum: 1, maximum: 65_535, description: 'Port: mostly 587 or 465.' }),
  security: { ...choice(...RELAY_SECURITY), description: SECURITY },
  username: Type.Optional(line({ description: 'Empty: no login.' })),
  password: Type.Optional(
    line({ description: 'Empty keeps the stored password. Needed again when the host or port changes.' }),
  ),
  rate: Type.Optional(integer({ maximum: 1_000_000, description: 'E-mails a second, at most; 0: no limit.' })),
  connections: Type.Optional(
    integer({
      minimum: 1,
      maximum: 200,
      description: `Connections at a time, at most; by default ${DEFAULT_CONNECTIONS}.`,
    }),
  ),
};
const ById = { id: identifier('The SMTP server.') };

export type Relay = Static<typeof Relay>;
export type Ways = Static<typeof Ways>;

export const readRelays = operation({
  name: 'List the SMTP servers in their order, with the settings that choose among them (addition)',
  description: 'Passwords are never returned.',
  role: 'owner',
  isForOperators: true,
  input: Type.Object({}),
  output: Type.Object({ relays: Type.Array(Relay), ways: Ways }),
  run({ db, config }): { relays: Relay[]; ways: Ways } {
    const rows = db.select().from(relays).orderBy(asc(relays.position), asc(relays.id)).all();
    return {
      relays: rows.map(({ sealed_password: sealed, position: _position, ...relay }) => ({
        ...relay,
        has_password: sealed === null ? 0 : 1,
        sender_ids: sendersOf(db, relay.id),
      })),
      ways: {
        environment: config.SMTP_URL === '' ? [] : relaysInUse(db.$client, config).map(relayName),
        has_public_url: findPublicUrl(db.$client, config).source === 'none' ? 0 : 1,
        queued: readGauges(db.$client).queued,
      },
    };
  },
});

export const saveRelay = operation({
  name: 'Add an SMTP server or change one (addition)',
  description: 'Mail may go through the server from then on, without a restart, unless SMTP_URL names other servers.',
  role: 'owner',
  isForOperators: true,
  input: Type.Object({
    id: optionalIdentifier('The SMTP server to change; without an id, a server is added.'),
    ...RelayFields,
  }),
  output: Type.Object({ id: integer() }),
  check(_context, { host, security, username = '', password = '' }, errors) {
    const parsed = host === undefined ? null : parseRelayHost(host);
    if (host !== undefined && parsed === null) errors.add('host', sentence('relay_host'));
    if (parsed !== null && security === 'none' && !isPrivateHost(parsed))
      errors.add('security', sentence('relay_plain'));
    else if (parsed !== null && security === 'none' && username !== '' && !isLocal(parsed))
      errors.add('security', sentence('relay_plain_login'));
    if (username === '' && password !== '') errors.add('username', messages.required('username'));
  },
  run(context, { id, ...fields }) {
    const { db, clock } = context;
    const { name, port, security, username = '', password = '', rate = 0, connections = DEFAULT_CONNECTIONS } = fields;
    const host = parseRelayHost(fields.host) ?? fields.host;
    const relay = { name, host, port, security, username, password, rate, connections };
    return writeAndWake(context, () => {
      const before = id === undefined ? undefined : requireRelay(db, id);
      if (before === undefined && countRelays(db) >= MAX_RELAYS)
        throw conflict(sentence('relays_many', { count: MAX_RELAYS }));
      if (username !== '' && password === '' && !keepsPassword(before, { host, port }))
        throw invalid(
          'password',
          before?.sealed_password ? sentence('relay_password_again') : messages.required('password'),
        );
      const saved = storeRelay(db, before, relay, clock.now());
      auditBy(context, before === undefined ? 'relay_added' : 'relay_changed', subjectOf(relay));
      return { id: saved };
    });
  },
});

export const orderRelays = operation({
  name: 'Put the SMTP servers into an order (addition)',
  description: 'Mail goes to the first server that works.',
  role: 'owner',
  isForOperators: true,
  input: Type.Object({ strIds: identifiers('The SMTP servers in their order; all others follow.') }),
  run: (context, { strIds = [] }) =>
    writeAndWake(context, () => {
      const { db } = context;
      storeOrder(
        db,
        strIds.map((id) => requireRelay(db, id).id),
      );
      auditBy(context, 'relays_ordered');
    }),
});

export const deleteRelay = operation({
  name: 'Delete an SMTP server with its password (addition)',
  description:
    'Mail that waits goes through the next server. A server that a sender is bound to cannot be deleted, nor the last one while mail waits.',
  role: 'owner',
  isForOperators: true,
  input: Type.Object(ById),
  run: (context, { id }) =>
    writeAndWake(context, () => {
      const { db, config } = context;
      const relay = requireRelay(db, id);
      const senderCount = sendersOf(db, relay.id).length;
      if (senderCount > 0) throw conflict(sentence('relay_named', { count: senderCount }));
      const { queued } = readGauges(db.$client);
      const isLast = countRelays(db) === 1 && config.SMTP_URL === '';
      if (isLast && queued > 0) throw conflict(sentence('relay_last', { count: queued }));
      removeRelay(db, relay.id);
      auditBy(context, 'relay_removed', subjectOf(relay));
    }),
});

/** The ids of the senders whose mail goes through this relay only. */
function sendersOf(db: Db, relayId: number): number[] {
  return db
    .select({ id: senders.id })
    .from(senders)
    .where(and(eq(senders.relay_id, relayId), isNull(senders.deleted_at)))
    .all()
    .map(({ id }) => id);
}

function countRelays(db: Db): number {
  return db.select({ count: count() }).from(relays).get()?.count ?? 0;
}

/** Returns the relay with this identifier. Throws 404 if there is no such relay. */
export function requireRelay(db: Db, id: unknown): StoredRelay {
  const relay = db
    .select()
    .from(relays)
    .where(eq(relays.id, recordId(id)))
    .get();
  if (relay === undefined) throw notFound();
  return relay;
}

/** Returns how the audit log names a relay. */
function subjectOf({ name, host, port }: { name: string; host: string; port: number }): string {
  return `${name} (${host}:${port})`;
}
