/** `/metrics` for Prometheus (text format 0.0.4). It contains only sums, no addresses and no names. */
import { statSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';
import { sendingHeldReason } from '../delivery/queue/hold.ts';
import { readGauges } from '../delivery/reporting/gauges.ts';
import type { Deps } from '../deps.ts';
import { countHeld } from '../senders/campaign-holds.ts';

/** Counting a long queue takes milliseconds, so requests within this time share one count. */
const FRESH_MS = 1000;
const QUANTILES = [0.5, 0.99, 1];

type Sample = [labels: string, value: number];

export async function metricsPage(app: FastifyInstance, deps: Deps): Promise<void> {
  const delay = monitorEventLoopDelay();
  delay.enable();
  app.addHook('onClose', async () => {
    delay.disable();
  });
  let read = Number.NEGATIVE_INFINITY;
  let text = '';

  app.get('/metrics', async (_request, reply) => {
    const now = deps.clock.monotonic();
    if (now - read >= FRESH_MS) {
      text = [...sendingMetrics(deps), ...processMetrics(deps)].join('');
      read = now;
    }
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(text);
  });

  function processMetrics({ config }: Deps): string[] {
    // Without samples a percentile would be NaN or the largest number.
    const seconds = (quantile: number) => (delay.count === 0 ? 0 : delay.percentile(quantile * 100) / 1e9);
    const delays = QUANTILES.map((quantile): Sample => [`{quantile="${quantile}"}`, seconds(quantile)]);
    delay.reset();
    return [
      metric('event_loop_delay_seconds', 'gauge', 'Delay of the HTTP thread since the last collection.', delays),
      metric('wal_bytes', 'gauge', 'Size of the write-ahead log.', [['', fileBytes(`${config.DATABASE_PATH}-wal`)]]),
      metric('database_bytes', 'gauge', 'Size of the database.', [['', fileBytes(config.DATABASE_PATH)]]),
      metric('resident_memory_bytes', 'gauge', 'Memory of the process.', [['', process.memoryUsage.rss()]]),
    ];
  }
}

function sendingMetrics({ db, clock }: Deps): string[] {
  const { queued, oldestSending, results, waitingMailings } = readGauges(db.$client);
  const age = oldestSending === null ? 0 : Math.max(0, clock.now().getTime() - oldestSending) / 1000;
  const byResult = Object.entries(results).map(([result, count]): Sample => [`{result="${result}"}`, count]);
  const holds = countHeld(db.$client).map(
    ({ what, reason, count }): Sample => [`{what="${what}",reason="${reason}"}`, count],
  );
  return [
    metric('queue_depth', 'gauge', 'Recipients that wait for their hand-off.', [['', queued]]),
    metric('oldest_sending_seconds', 'gauge', 'Age of the oldest hand-off under way.', [['', age]]),
    metric('deliveries_total', 'counter', 'Recipients by final result.', byResult),
    metric('mailings_waiting', 'gauge', 'Mailings paused or held.', [['', waitingMailings]]),
    metric('sending_held', 'gauge', '1 while all sending is held.', [
      ['', sendingHeldReason(db.$client) === null ? 0 : 1],
    ]),
    metric('holds', 'gauge', 'What is held with a reason, by kind of reason.', holds),
  ];
}

function metric(name: string, type: 'gauge' | 'counter', about: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value]) => `sendlark_${name}${labels} ${value}\n`);
  return `# HELP sendlark_${name} ${about}\n# TYPE sendlark_${name} ${type}\n${lines.join('')}`;
}

function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
