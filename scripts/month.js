/** Other and larger months than those of the suite: `npm run test:month -- SEED`. A seed that failed runs again by naming it. */
import { spawnSync } from 'node:child_process';

const [seed = String(Date.now() % 2 ** 31)] = process.argv.slice(2);
const { status } = spawnSync(
  'npx',
  ['tap', '--timeout=600', 'test/month', 'test/automations/automation-month.test.ts'],
  {
    stdio: 'inherit',
    env: { ...process.env, SEED: seed },
  },
);
process.exitCode = status ?? 1;
