/**
 * CPU and wall time from the start of the built service to its first answer, and its CPU and memory when all threads have started: on
 * an empty folder, and again on the file it made.
 *
 *   npm run bench:start
 */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { inFolder, served } from './measure.ts';
import { report, type Table } from './report.ts';

const WARM_RUNS = 5;
/** Until then the background thread has started, too. */
const STARTED_MS = 5000;
/** In CPU, with all threads. */
const GOAL_MS = { empty: 1500, warm: 800 };

const table: Table = {};
await inFolder(async (folder) => {
  const path = join(folder, 'start.db');
  table['empty folder'] = await start(path, GOAL_MS.empty);
  for (let run = 1; run <= WARM_RUNS; run++) table[`warm, run ${run}`] = await start(path, GOAL_MS.warm);
});
report(table, [`Goals of CPU with all threads: ${GOAL_MS.warm} ms warm, ${GOAL_MS.empty} ms on an empty folder.`]);

async function start(path: string, goalMs: number) {
  const from = performance.now();
  const service = await served(path);
  await (await fetch(`${service.origin}/healthz`)).text();
  const wall = performance.now() - from;
  const serving = Math.round(service.used().cpuSeconds * 1000);
  await setTimeout(STARTED_MS);
  const { cpuSeconds, rssKb } = service.used();
  await service.close();
  const all = Math.round(cpuSeconds * 1000);
  return {
    'wall ms': Math.round(wall),
    'CPU ms to serving': serving,
    'CPU ms with all threads': all,
    'RSS MB': Math.round(rssKb / 1024),
    goal: all <= goalMs ? 'met' : 'missed',
  };
}
