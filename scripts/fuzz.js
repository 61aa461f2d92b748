/** The long run of test/fuzz/fuzz.test.ts: `npm run test:fuzz -- CASES SEED`. A found seed runs again by naming it. */
import { spawnSync } from 'node:child_process';

const [cases = '5000', seed = String(Date.now() % 2 ** 31)] = process.argv.slice(2);
const { status } = spawnSync('npx', ['tap', '--timeout=7200', 'test/fuzz/fuzz.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, FUZZ_CASES: cases, FUZZ_SEED: seed },
});
process.exitCode = status ?? 1;
