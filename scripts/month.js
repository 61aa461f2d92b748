/**
 * Other and larger months than those of the suite: `npm run test:month -- SEED SEEDS`. A seed that failed runs again by naming it. SEEDS: of how many
 * seeds, from that one, months of random journeys are run; 1 by default.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** A folder in memory, because the months write little at a time and a disk is waited for at each write. */
const MEMORY = '/dev/shm';
const [seed = String(Date.now() % 2 ** 31), seeds = '1'] = process.argv.slice(2);
const { status } = spawnSync(
  'npx',
  [
    'tap',
    `--timeout=${600 + 60 * Number(seeds)}`,
    'test/month',
    'test/automations/automation-month.test.ts',
    'test/automations/journey-month.test.ts',
  ],
  {
    stdio: 'inherit',
    env: { ...process.env, SEED: seed, SEEDS: seeds, ...(existsSync(MEMORY) && { TMPDIR: MEMORY }) },
  },
);
process.exitCode = status ?? 1;
