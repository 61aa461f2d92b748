/**
 * Operations about the installation (additions to the contract): its health, the hold of all sending, and its sender nodes.
 */
import { resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import Type, { type Static } from 'typebox';
import { DELIVERY_STATE, NODE_STATES, SINGLE_SEND_STATUS } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { findPublicUrl } from '../delivery/links/public-url.ts';
import { isReleasable, mailWaitsReason, releaseSending, sendingHeldReason } from '../delivery/queue/holds.ts';
import { listSenderNodes, type SenderNode } from '../delivery/reporting/sender-nodes.ts';
import { COURIERS, courierInUse, relaysInUse } from '../delivery/transport/relays/in-use.ts';
import { relayName } from '../delivery/transport/smtp/relay-urls.ts';
import { conflict } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import { codeOf } from '../errors/stored.ts';
import {
  choice,
  findingFields,
  integer,
  isoTimestampSchema,
  nullable,
  said,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import type { Deps } from '../operations/deps.ts';
import { type Context, operation } from '../operations/operation.ts';
import { isoTimestamp } from '../time/clock.ts';
import { auditBy } from '../users/audit.ts';
import { VERSION } from '../version.ts';
import { diskUse } from './backups/files.ts';
import { lastBackupAt } from './backups/last-backup.ts';
import type { Finding } from './health-checks/finding.ts';
import { filesCheck, localChecks } from './health-checks/machine.ts';
import { findPublicUrlResult, publicUrlCheck, recordPublicUrlResult } from './health-checks/public-url.ts';
import { type LastDnsState, lastDnsState } from './health-checks/relays-and-domains.ts';
import {
  findReturnedMail,
  recordReturnedMail,
  returnedMailCheck,
  takesReturnedMail,
} from './health-checks/returned-mail.ts';
import { nodeChecks, serviceChecks, webhooksCheck } from './health-checks/service.ts';

const FindingRecord = Type.Object({
  name: Type.String({ description: 'What was checked.' }),
  state: {
    ...choice('ok', 'warn', 'fail'),
    description: 'warn: mail is sent, but something should be improved; fail: mail or the service is in danger.',
  },
  ...findingFields,
});
const Health = Type.Object(
  {
    version: Type.String({ description: 'The release of the service.' }),
    node: Type.String({ description: 'The release of Node that the service runs on.' }),
    now: isoTimestampSchema('The clock of the machine, UTC.'),
    courier: choice(...COURIERS),
    relays: Type.Array(Type.String(), { description: 'Host and port of each SMTP server, in order of preference.' }),
    database_bytes: integer({ description: 'Size of the database with its write-ahead log.' }),
    free_bytes: integer(),
    last_backup_at: nullable(Type.String()),
    public_url: Type.String({ description: 'The tracking domain, where links in e-mails lead; empty: none is set.' }),
    bounce_domain: Type.String({
      description: 'The domain that bounces go to; empty: each bounce goes to the address of the sender.',
    }),
    bounce_listen: nullable(Type.String(), 'Host and port at which bounces are received; null: they are not received.'),
    address_seen_at: nullable(isoTimestampSchema(), 'When the tracking domain was last checked, UTC; null: never.'),
    returns_seen_at: nullable(
      isoTimestampSchema(),
      'When a test e-mail was last sent to see whether bounces arrive, UTC; null: never.',
    ),
    findings: Type.Array(FindingRecord, { description: 'What was checked, the worst first.' }),
  },
  { description: 'The state of the installation.' },
);

/** The order of findings by their state. */
const ORDER = ['fail', 'warn', 'ok'];

export type Health = Static<typeof Health>;

export const readHealth = operation({
  name: 'Read the health checks of the installation, with their cures (addition)',
  description:
    'Nothing outside the machine is asked: the findings about DNS, tracking domain and bounces are those of their last check.',
  role: 'owner',
  isReading: true,
  input: Type.Object({}),
  output: Type.Object({ health: Health }),
  async run({ db, config, clock, accountId }): Promise<{ health: Health }> {
    const client = db.$client;
    const { url } = findPublicUrl(client, config);
    const address = findPublicUrlResult(client, url);
    const returns = findReturnedMail(client, config);
    const now = clock.now();
    const { database, free } = await diskUse(resolve(config.DATABASE_PATH));
    const findings = [
      ...localChecks(client, config, now.getTime()),
      ...serviceChecks(client, config, now.getTime()),
      ...nodeChecks(client, config, now.getTime()),
      ...domainsCheck(lastDnsState(db, config, accountId)),
      ...webhooksCheck(db, accountId),
      ...(address === null ? [] : [address.finding]),
      ...(returns === null ? [] : [returns.finding]),
      filesCheck(config),
    ];
    const health = {
      version: VERSION,
      node: process.versions.node,
      now: isoTimestamp(now),
      courier: courierInUse(client, config),
      relays: relaysInUse(client, config).map(relayName),
      database_bytes: database,
      free_bytes: free,
      last_backup_at: lastBackupAt(client),
      public_url: url,
      bounce_domain: config.BOUNCE_DOMAIN,
      bounce_listen: config.BOUNCE_LISTEN && `${config.BOUNCE_LISTEN.host}:${config.BOUNCE_LISTEN.port}`,
      address_seen_at: address === null ? null : isoTimestamp(new Date(address.at)),
      returns_seen_at: returns === null ? null : isoTimestamp(new Date(returns.at)),
      findings: findings
        .map((finding) => ({ advice: [], ...finding, code: codeOf(finding.found) }))
        .sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state)),
    };
    return { health };
  },
});

export const lookAtPublicAddress = operation({
  name: 'Check whether the tracking domain leads here, and with what certificate (addition)',
  description: 'Ends within ten seconds; GET /public-address and GET /health have the result.',
  role: 'owner',
  isForOperators: true,
  input: Type.Object({}),
  run: oncePerService(async ({ db, config, clock, tokens }) => {
    const { url } = findPublicUrl(db.$client, config);
    const finding = await publicUrlCheck(url, tokens, clock.now().getTime());
    recordPublicUrlResult(db.$client, { url, at: clock.now().getTime(), finding });
  }),
});

export const testReturnedMail = operation({
  name: 'Send a test e-mail to see whether bounces arrive (addition)',
  description:
    'The service sends the e-mail to itself, by the MX record of BOUNCE_DOMAIN to port 25, and does not count it. Ends within half a minute; GET /health has the result. 409 if bounces are not received here.',
  role: 'owner',
  isForOperators: true,
  input: Type.Object({}),
  run: oncePerService(async ({ db, config, clock, resolver }) => {
    if (!takesReturnedMail(config)) throw conflict(sentence('returns_not_here'));
    const at = clock.now().getTime();
    const finding = await returnedMailCheck(db.$client, config, { resolver: resolver(), now: at });
    recordReturnedMail(db.$client, { domain: config.BOUNCE_DOMAIN, at, finding });
  }),
});

/** Returns a function that runs `work` once for all concurrent callers of the same service. */
function oncePerService(work: (context: Context) => Promise<void>): (context: Context) => Promise<void> {
  const running = new WeakMap<Context['db'], Promise<void>>();
  return (context) => {
    const { db } = context;
    const result = running.get(db) ?? work(context).finally(() => running.delete(db));
    running.set(db, result);
    return result;
  };
}

/** Returns the DNS finding about an account's senders; an empty list unless all of their domains were checked. */
function domainsCheck({ state, domain, checks }: LastDnsState): Finding[] {
  const name = 'DNS';
  if (state === 'none' || state === 'unknown') return [];
  if (state === 'passed') return [{ name, state: 'ok', found: sentence('domains_passed') }];
  const values = { domain: domain ?? '', checks: checks.join(', ') };
  const advice = [sentence('domains_cure')];
  return state === 'weak'
    ? [{ name, state: 'warn', found: sentence('domains_weak', values), advice }]
    : [{ name, state: 'fail', found: sentence('domains_failed', values), advice }];
}

const Hold = Type.Object(
  {
    held_reason: nullable(said()),
    releasable: zeroOrOne('1: an operator can end the hold; 0: it ends with its cause, or nothing is held.'),
    waits_reason: nullable(
      said(),
      'Why mail waits although nothing is held, for example because there is no sender node; null when mail is sent.',
    ),
    has_nodes: zeroOrOne('1: sender nodes send campaigns.'),
    mails: integer({ description: 'The number of e-mails of all accounts that are sent when the hold ends.' }),
    due_single_sends: integer({
      description: 'Single sends of all accounts that begin when the hold ends, because their time has come.',
    }),
  },
  { description: 'The hold of all sending.' },
);

export type Hold = Static<typeof Hold>;

export const readHold = operation({
  name: 'Read whether all sending is held, and what waits (addition)',
  role: 'viewer',
  input: Type.Object({}),
  output: Type.Object({ hold: Hold }),
  run: (context) => ({ hold: currentHold(context) }),
});

export const releaseHold = operation({
  name: 'Resume sending after a restore or a leap of the clock (addition)',
  description:
    'Everything that is due is sent at once. A hold because of settings stays. 409 if there is no hold that can be released.',
  role: 'owner',
  isForOperators: true,
  input: Type.Object({}),
  run(context) {
    const { db, clock, wake } = context;
    inTransaction(db, () => {
      if (!isReleasable(db.$client)) throw conflict(sentence('sending_on'));
      releaseSending(db.$client, clock.now().getTime());
      auditBy(context, 'sending_released');
    });
    wake();
  },
});

/** Returns why all sending is held now, null if it is not, and what waits. */
export function currentHold({ db: { $client: client }, config, clock }: Pick<Deps, 'db' | 'config' | 'clock'>): Hold {
  const reason = sendingHeldReason(client);
  return {
    held_reason: reason,
    releasable: isReleasable(client) ? 1 : 0,
    waits_reason: mailWaitsReason(client),
    has_nodes: config.NATS_URL.length > 0 ? 1 : 0,
    ...(reason === null ? { mails: 0, due_single_sends: 0 } : countWaiting(client, clock.now().getTime())),
  };
}

/** Counts what would be sent if the hold ended at `now`, epoch milliseconds. */
function countWaiting(client: Database, now: number): Pick<Hold, 'mails' | 'due_single_sends'> {
  const counts = client
    .prepare<[number], Pick<Hold, 'mails' | 'due_single_sends'>>(`
     SELECT ifnull(sum((SELECT count(*) FROM deliveries d WHERE d.mailing_id = m.id AND d.state = ${DELIVERY_STATE.queued})), 0) AS mails,
       (SELECT count(*) FROM single_sends WHERE status = ${SINGLE_SEND_STATUS.queued} AND starts_at <= ?) AS due_single_sends
     FROM mailings m WHERE m.finished_at IS NULL`)
    .get(now);
  return counts ?? { mails: 0, due_single_sends: 0 };
}

const WarmUp = Type.Object({
  ceiling: integer({ description: 'The maximum number of recipients that the node may be given today.' }),
  given: integer({ description: 'The number of recipients that the node was given today, without returned ones.' }),
});

const Node = Type.Object({
  run: Type.String({ description: 'Identifies the run of the node: each start is another run.' }),
  name: Type.String({ description: 'NODE_NAME of the node, or the name of its machine.' }),
  version: Type.String({ description: 'The release of the node.' }),
  state: {
    ...choice(...NODE_STATES),
    description:
      'sending: the node takes mail; waiting: it is connected but takes no mail yet, or is of an incompatible release; draining: it was told to end and finishes e-mails in flight; refused: its SMTP servers take no mail from it; silent: it was not heard for longer than its lease.',
  },
  refusal: nullable(Type.String(), 'The answer of the SMTP servers of the node, if they take no mail from it.'),
  rate: integer({
    description: 'The number of e-mails that the SMTP servers of the node accepted in the last second.',
  }),
  recipients: integer({ description: 'The number of recipients that the node has now.' }),
  room: integer({ description: 'The number of further recipients that the node can take now.' }),
  accepted: integer({ description: 'The number of e-mails that the SMTP servers accepted from the node today, UTC.' }),
  deferred: integer({ description: 'The number of e-mails that the SMTP servers deferred today, UTC.' }),
  refused: integer({ description: 'The number of e-mails that the SMTP servers refused permanently today, UTC.' }),
  warm_up: nullable(WarmUp, 'The warm-up of the node; null without a warm-up.'),
  heard_at: isoTimestampSchema('When the last heartbeat of the node came, UTC.'),
  lease_until: nullable(
    isoTimestampSchema(),
    'The time until which the node may begin e-mails, UTC; each heartbeat prolongs this time. Null: it may not begin any.',
  ),
});

const Fleet = Type.Object(
  {
    is_used: zeroOrOne('1: sender nodes send campaigns, because NATS_URL is set.'),
    version: Type.String({ description: 'The release of the service.' }),
    waits_reason: nullable(said(), 'Why mail waits for a node; null when no mail waits.'),
  },
  { description: 'What applies to all nodes.' },
);

export type Node = Static<typeof Node>;
export type Fleet = Static<typeof Fleet>;

export const listNodes = operation({
  name: 'List the sender nodes with state, rate, counts and last heartbeat (addition)',
  description: 'Ordered by name. A node that signed off is no longer listed; a silent node is listed for a week.',
  role: 'owner',
  isForOperators: true,
  input: Type.Object({}),
  output: Type.Object({ nodes: Type.Array(Node, { description: 'The nodes.' }), fleet: Fleet }),
  run({ db, config, clock }): { nodes: Node[]; fleet: Fleet } {
    const isUsed = config.NATS_URL.length > 0;
    const now = clock.now().getTime();
    return {
      nodes: isUsed ? listSenderNodes(db.$client, now).map((node) => senderNodeRecord(node, now)) : [],
      fleet: { is_used: isUsed ? 1 : 0, version: VERSION, waits_reason: mailWaitsReason(db.$client) },
    };
  },
});

/** Returns a node in the form of the API at `now`, epoch milliseconds. */
export function senderNodeRecord(node: SenderNode, now: number): Node {
  const { run, name, version, state, refusal, rate, capacity, load, heard_at, lease_until } = node;
  const { ceiling, given, accepted, deferred, refused } = node;
  const leftToday = ceiling === null ? Number.POSITIVE_INFINITY : Math.max(0, ceiling - given);
  return {
    run,
    name,
    version,
    state,
    refusal: refusal || null,
    rate,
    recipients: load,
    room: state === 'sending' ? Math.max(0, Math.min(capacity - load, leftToday)) : 0,
    accepted,
    deferred,
    refused,
    warm_up: ceiling === null ? null : { ceiling, given },
    heard_at: isoTimestamp(new Date(heard_at)),
    lease_until: lease_until > now ? isoTimestamp(new Date(lease_until)) : null,
  };
}
