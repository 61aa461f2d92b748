/** `/metrics` for Prometheus. Contains only sums, no addresses and no names of people. */
import { statSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, type Registry } from 'prom-client';
import { NODE_STATES } from '../database/schema/index.ts';
import { pacingGauges } from '../delivery/pacing/paced-groups.ts';
import { mailWaitsReason, sendingHeldReason } from '../delivery/queue/holds.ts';
import { FINAL_STATES } from '../delivery/queue/ledger/ledger.ts';
import { currentRelayFailure } from '../delivery/queue/relay-use.ts';
import { oldestDueAt, readGauges } from '../delivery/reporting/gauges.ts';
import { refusedMessages } from '../delivery/reporting/refused-messages.ts';
import { listSenderNodes } from '../delivery/reporting/sender-nodes.ts';
import { Sentence } from '../errors/sentences.ts';
import { countHeld } from '../installation/list-holds.ts';
import type { Deps } from '../operations/deps.ts';
import { processMetrics } from './process-metrics.ts';

/** Counting a long queue takes milliseconds, so requests within this time share one count. */
const FRESH_MS = 1000;

/** Registers /metrics. */
export async function metricsPage(app: FastifyInstance, deps: Deps): Promise<void> {
  const { registry, collect, close } = createMetrics(deps);
  app.addHook('onClose', async () => close());
  let collectedAt = Number.NEGATIVE_INFINITY;

  app.get('/metrics', async (_request, reply) => {
    const now = deps.clock.monotonic();
    if (now - collectedAt >= FRESH_MS) {
      collect();
      collectedAt = now;
    }
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}

/** Creates the metrics. `collect` sets their current values. */
function createMetrics({ db, clock, config }: Deps) {
  const { registry, close } = processMetrics();
  const options = (name: string, help: string) => ({ name: `sendlark_${name}`, help, registers: [registry] });
  const gauge = (name: string, help: string) => new Gauge(options(name, help));

  const queueDepth = gauge('queue_depth', 'Recipients that wait for their hand-off.');
  const transactionalDepth = gauge('transactional_queue_depth', 'Transactional mails that wait for their hand-off.');
  const oldestSending = gauge('oldest_sending_seconds', 'Age of the oldest hand-off under way.');
  const oldestDue = gauge('oldest_due_seconds', 'How long the mail that waits the longest has been due.');
  const failing = gauge('relay_failing', '1 while SMTP servers fail and none has taken a mail since.');
  const deliveries = new Counter({
    ...options(
      'deliveries_total',
      'Recipients by final result since the start of the service; a mail that was accepted and came back counts in both. The sum is too low if mailings were deleted or failed mails sent again meanwhile.',
    ),
    labelNames: ['result'],
  });
  let { results } = readGauges(db.$client);
  const mailingsWaiting = gauge('mailings_waiting', 'Mailings paused or held.');
  const sendingHeld = gauge('sending_held', '1 while all sending is held.');
  const holds = new Gauge({
    ...options('holds', 'What is held with a reason, by kind of reason.'),
    labelNames: ['what', 'reason'],
  });
  const pacedGroups = gauge(
    'paced_groups',
    'Providers and domains that get mail more slowly because they asked for it.',
  );
  const pacedRate = new Gauge({
    ...options(
      'paced_rate',
      'Mails a second that a provider gets while it asks for fewer, on its slowest SMTP server.',
    ),
    labelNames: ['provider'],
  });
  const walBytes = gauge('wal_bytes', 'Size of the write-ahead log.');
  const databaseBytes = gauge('database_bytes', 'Size of the database.');

  const collectNodes = config.NATS_URL.length === 0 ? () => undefined : nodeMetrics(registry, { db, clock });

  function collect(): void {
    const now = clock.now().getTime();
    const gauges = readGauges(db.$client);
    queueDepth.set(gauges.queued);
    transactionalDepth.set(gauges.queuedTransactional);
    oldestSending.set(Math.max(0, now - (gauges.oldestSending ?? now)) / 1000);
    oldestDue.set(Math.max(0, now - (oldestDueAt(db.$client, now) ?? now)) / 1000);
    failing.set(currentRelayFailure(db.$client, config) === null ? 0 : 1);
    // Only increases are added, because the sum falls when a mailing is deleted or its failed mails are sent again.
    for (const result of FINAL_STATES)
      deliveries.inc({ result }, Math.max(0, gauges.results[result] - results[result]));
    results = gauges.results;
    mailingsWaiting.set(gauges.waitingMailings);
    sendingHeld.set(sendingHeldReason(db.$client) === null ? 0 : 1);
    holds.reset();
    for (const { what, reason, count } of countHeld(db.$client)) holds.set({ what, reason }, count);
    const paced = pacingGauges(db.$client, now);
    pacedGroups.set(paced.count);
    pacedRate.reset();
    for (const [provider, rate] of paced.rates) pacedRate.set({ provider }, rate);
    walBytes.set(fileBytes(`${config.DATABASE_PATH}-wal`));
    databaseBytes.set(fileBytes(config.DATABASE_PATH));
    collectNodes();
  }

  return { registry, collect, close };
}

/** Adds the metrics of sender nodes. Returns a function that sets their current values. */
function nodeMetrics(registry: Registry, { db, clock }: Pick<Deps, 'db' | 'clock'>): () => void {
  const options = <Label extends string>(name: string, help: string, labelNames: Label[]) => ({
    name: `sendlark_${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  const connected = new Gauge(options('nats_connected', '1 while there is a connection to NATS.', []));
  const waits = new Gauge(options('mail_waits', '1 while mail waits because no sender node can take it.', []));
  const states = new Gauge(options('nodes', 'Sender nodes by state.', ['state']));
  const rate = new Gauge(
    options('node_rate', 'Mails that the SMTP servers of a node took in the last second.', ['node']),
  );
  const silence = new Gauge(options('node_silent_seconds', 'Time since the last heartbeat of a node.', ['node']));
  const mails = new Gauge(options('node_mails_today', 'Mails of a node today, UTC, by result.', ['node', 'result']));
  const refused = new Counter(
    options('node_messages_refused_total', 'Messages of nodes that were refused, by kind.', ['kind']),
  );
  return () => {
    const now = clock.now().getTime();
    const nodes = listSenderNodes(db.$client, now);
    const reason = mailWaitsReason(db.$client);
    waits.set(reason === null ? 0 : 1);
    connected.set(reason instanceof Sentence && reason.code === 'waits_nats' ? 0 : 1);
    for (const metric of [states, rate, silence, mails, refused]) metric.reset();
    for (const [kind, count] of Object.entries(refusedMessages(db.$client))) refused.inc({ kind }, count);
    for (const state of NODE_STATES) states.set({ state }, nodes.filter((node) => node.state === state).length);
    // If there are two runs with the same name, uses the one heard last.
    for (const node of new Map(nodes.toReversed().map((run) => [run.name, run])).values()) {
      rate.set({ node: node.name }, node.rate);
      silence.set({ node: node.name }, Math.max(0, now - node.heard_at) / 1000);
      for (const result of ['accepted', 'deferred', 'refused'] as const)
        mails.set({ node: node.name, result }, node[result]);
    }
  };
}

function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
