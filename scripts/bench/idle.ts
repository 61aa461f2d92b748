/**
 * Memory of a service that does nothing.
 *
 *   npm run build && node scripts/bench/idle.ts
 */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { inFolder, madeDatabase, served } from './measure.ts';
import { report, type Table } from './report.ts';

const SETTLED_MS = 20_000;
const CONTACTS = 1000;
const RUNS = 3;
const GOAL_MB = 120;

const table: Table = {};
for (let run = 1; run <= RUNS; run++) table[`run ${run}`] = await idle();
report(table, [`Goal: ${GOAL_MB} MB at rest.`]);

/** Resident memory, in MB, some seconds after the start, and the peak until then. */
async function idle() {
  return inFolder(async (folder) => {
    const path = join(folder, 'idle.db');
    madeDatabase(path, CONTACTS).$client.close();
    const service = await served(path);
    await setTimeout(SETTLED_MS);
    const { rssKb, maxRssKb } = service.used();
    await service.close();
    const [resting, peak] = [Math.round(rssKb / 1024), Math.round(maxRssKb / 1024)];
    return { 'RSS MB': resting, 'peak RSS MB': peak, goal: resting <= GOAL_MB ? 'met' : 'missed' };
  });
}
