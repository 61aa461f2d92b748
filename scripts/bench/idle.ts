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

const table: Table = {};
for (let run = 1; run <= RUNS; run++) table[`run ${run}`] = await idle();
report(table);

/** Resident memory, in MB, some seconds after the start, and the peak until then. */
async function idle(): Promise<{ 'RSS MB': number; 'peak RSS MB': number }> {
  return inFolder(async (folder) => {
    const path = join(folder, 'idle.db');
    madeDatabase(path, CONTACTS).$client.close();
    const service = await served(path);
    await setTimeout(SETTLED_MS);
    const { rssKb, maxRssKb } = service.used();
    await service.close();
    return { 'RSS MB': Math.round(rssKb / 1024), 'peak RSS MB': Math.round(maxRssKb / 1024) };
  });
}
