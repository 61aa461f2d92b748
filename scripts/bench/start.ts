/**
 * Measures CPU and wall-clock time from the start of the built service to its first answer, and its CPU time and memory once all threads have
 * started: first in an empty folder, then with the database that the first start made.
 *
 *   npm run bench:start
 */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { inFolder, startService } from './measure.ts';
import { report, type Table } from './report.ts';

const WARM_RUNS = 5;
/** How long the bench waits after the first answer; by then the background thread has started too. */
const ALL_STARTED_MS = 5000;
/** The most CPU time until all threads have started. */
const GOAL_MS = { empty: 1500, warm: 800 };

const table: Table = {};
await inFolder(async (folder) => {
  const path = join(folder, 'start.db');
  table['empty folder'] = await measureStart(path, GOAL_MS.empty);
  for (let run = 1; run <= WARM_RUNS; run++) table[`warm, run ${run}`] = await measureStart(path, GOAL_MS.warm);
});
report(table, [`Goals of CPU with all threads: ${GOAL_MS.warm} ms warm, ${GOAL_MS.empty} ms on an empty folder.`]);

async function measureStart(path: string, goalMs: number) {
  const started = performance.now();
  const service = await startService(path);
  await (await fetch(`${service.origin}/healthz`)).text();
  const wallMs = performance.now() - started;
  const cpuToServingMs = Math.round(service.usage().cpuSeconds * 1000);
  await setTimeout(ALL_STARTED_MS);
  const { cpuSeconds, rssKb } = service.usage();
  await service.close();
  const cpuMs = Math.round(cpuSeconds * 1000);
  return {
    'wall ms': Math.round(wallMs),
    'CPU ms to serving': cpuToServingMs,
    'CPU ms with all threads': cpuMs,
    'RSS MB': Math.round(rssKb / 1024),
    goal: cpuMs <= goalMs ? 'met' : 'missed',
  };
}
