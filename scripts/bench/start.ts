/**
 * CPU and wall time from the start of the built service to its first answer: on an empty folder, and again on the file it made.
 *
 *   npm run bench:start
 */
import { join } from 'node:path';
import { inFolder, served } from './measure.ts';
import { report, type Table } from './report.ts';

const WARM_RUNS = 5;

const table: Table = {};
await inFolder(async (folder) => {
  const path = join(folder, 'start.db');
  table['empty folder'] = await start(path);
  for (let run = 1; run <= WARM_RUNS; run++) table[`warm, run ${run}`] = await start(path);
});
report(table);

/** What a start takes until /healthz is answered. */
async function start(path: string): Promise<{ 'CPU ms': number; 'wall ms': number; 'RSS MB': number }> {
  const from = performance.now();
  const service = await served(path);
  await (await fetch(`${service.origin}/healthz`)).text();
  const wall = performance.now() - from;
  const { cpuSeconds, rssKb } = service.used();
  await service.close();
  return { 'CPU ms': Math.round(cpuSeconds * 1000), 'wall ms': Math.round(wall), 'RSS MB': Math.round(rssKb / 1024) };
}
