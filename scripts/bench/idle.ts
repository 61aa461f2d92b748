/**
 * Measures the memory of a service that does nothing.
 *
 *   npm run build && node scripts/bench/idle.ts
 */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { inFolder, makeDatabase, startService } from './measure.ts';
import { report, type Table } from './report.ts';

const SETTLED_MS = 20_000;
const CONTACTS = 1000;
const RUNS = 3;
const GOAL_MB = 120;

const table: Table = {};
for (let run = 1; run <= RUNS; run++) table[`run ${run}`] = await idle();
report(table, [`Goal: ${GOAL_MB} MB at rest.`]);

/** Returns the resident memory in MB some seconds after the start, the peak until then, and the memory after the page for signing in. */
async function idle() {
  return inFolder(async (folder) => {
    const path = join(folder, 'idle.db');
    makeDatabase(path, CONTACTS).$client.close();
    const service = await startService(path);
    await setTimeout(SETTLED_MS);
    const { rssKb, maxRssKb } = service.usage();
    await (await fetch(`${service.origin}/login`)).text();
    const signIn = service.usage().rssKb;
    await service.close();
    const megabytes = (kb: number) => Math.round(kb / 1024);
    const goal = megabytes(rssKb) <= GOAL_MB ? 'met' : 'missed';
    const figures = { 'RSS MB': megabytes(rssKb), 'peak RSS MB': megabytes(maxRssKb) };
    return { ...figures, 'RSS MB after a page': megabytes(signIn), goal };
  });
}
