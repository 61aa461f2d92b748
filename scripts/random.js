/** The long run of test/random/random.test.ts: `npm run test:random -- STEPS SEED`. A seed that failed runs again by naming it. */
import { spawnSync } from 'node:child_process';

const [steps = '5000', seed = String(Date.now() % 2 ** 31)] = process.argv.slice(2);
const { status } = spawnSync('npx', ['tap', '--timeout=7200', 'test/random/random.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, RANDOM_STEPS: steps, RANDOM_SEED: seed },
});
process.exitCode = status ?? 1;
