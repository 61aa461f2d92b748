/** `/metrics` for Prometheus. It contains only sums, no addresses and no names. */
import { statSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, Registry } from 'prom-client';
import { sendingHeldReason } from '../delivery/queue/sending-hold.ts';
import { readGauges } from '../delivery/reporting/gauges.ts';
import type { Deps } from '../deps.ts';
import { countHeld } from '../senders/list-holds.ts';

/** Counting a long queue takes milliseconds, so requests within this time share one count. */
const FRESH_MS = 1000;
const QUANTILES = [0.5, 0.99, 1];
/** How often the delay is sampled. Each sample is the time since the one before, so without any delay it is this long. */
const SAMPLED_MS = 10;

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

/** Makes the metrics. `collect` gives all of them their present values. */
function createMetrics({ db, clock, config }: Deps) {
  const registry = new Registry();
  const options = (name: string, help: string) => ({ name: `sendlark_${name}`, help, registers: [registry] });
  const gauge = (name: string, help: string) => new Gauge(options(name, help));

  const queueDepth = gauge('queue_depth', 'Recipients that wait for their hand-off.');
  const oldestSending = gauge('oldest_sending_seconds', 'Age of the oldest hand-off under way.');
  const deliveries = new Counter({
    ...options('deliveries_total', 'Recipients by final result.'),
    labelNames: ['result'],
  });
  const mailingsWaiting = gauge('mailings_waiting', 'Mailings paused or held.');
  const sendingHeld = gauge('sending_held', '1 while all sending is held.');
  const holds = new Gauge({
    ...options('holds', 'What is held with a reason, by kind of reason.'),
    labelNames: ['what', 'reason'],
  });
  const eventLoopDelay = new Gauge({
    ...options('event_loop_delay_seconds', 'Delay of the HTTP thread since the last collection.'),
    labelNames: ['quantile'],
  });
  const walBytes = gauge('wal_bytes', 'Size of the write-ahead log.');
  const databaseBytes = gauge('database_bytes', 'Size of the database.');
  const residentMemory = gauge('resident_memory_bytes', 'Memory of the process.');

  const delay = monitorEventLoopDelay({ resolution: SAMPLED_MS });
  delay.enable();

  function collect(): void {
    const gauges = readGauges(db.$client);
    queueDepth.set(gauges.queued);
    const since = gauges.oldestSending ?? clock.now().getTime();
    oldestSending.set(Math.max(0, clock.now().getTime() - since) / 1000);
    deliveries.reset();
    for (const [result, count] of Object.entries(gauges.results)) deliveries.inc({ result }, count);
    mailingsWaiting.set(gauges.waitingMailings);
    sendingHeld.set(sendingHeldReason(db.$client) === null ? 0 : 1);
    holds.reset();
    for (const { what, reason, count } of countHeld(db.$client)) holds.set({ what, reason }, count);
    for (const quantile of QUANTILES) {
      // Without samples a percentile would be the largest number.
      const nanoseconds = delay.count === 0 ? 0 : delay.percentile(quantile * 100);
      eventLoopDelay.set({ quantile }, Math.max(0, nanoseconds / 1e9 - SAMPLED_MS / 1000));
    }
    delay.reset();
    walBytes.set(fileBytes(`${config.DATABASE_PATH}-wal`));
    databaseBytes.set(fileBytes(config.DATABASE_PATH));
    residentMemory.set(process.memoryUsage.rss());
  }

  return { registry, collect, close: () => delay.disable() };
}

function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
