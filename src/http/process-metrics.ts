/** The metrics of a process, the same for the service and for sender nodes: release, memory and the delay of its HTTP thread. */
import { Gauge, Histogram, Registry } from 'prom-client';
import { VERSION } from '../version.ts';

/** How often the delay of the HTTP thread is measured, in milliseconds. */
const SAMPLED_MS = 20;
/** Upper bounds in seconds. A timer may be late by a millisecond without any delay. */
const DELAYS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface ProcessMetrics {
  /** The registry to which callers add further metrics. */
  registry: Registry;
  close(): void;
}

/** Creates a registry with the metrics of this process. The delay is measured until `close` is called. */
export function processMetrics(): ProcessMetrics {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: 'sendlark_build_info',
    help: 'Always 1; the labels name the release and the version of Node.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: VERSION, node: process.versions.node }, 1);
  new Gauge({
    name: 'sendlark_resident_memory_bytes',
    help: 'Memory of the process.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  const delay = new Histogram({
    name: 'sendlark_event_loop_delay_seconds',
    help: `How late a timer of the HTTP thread was, measured every ${SAMPLED_MS} ms.`,
    buckets: DELAYS,
    registers,
  });
  let lastTick = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    delay.observe(Math.max(0, now - lastTick - SAMPLED_MS) / 1000);
    lastTick = now;
  }, SAMPLED_MS);
  timer.unref();
  return { registry, close: () => clearInterval(timer) };
}
