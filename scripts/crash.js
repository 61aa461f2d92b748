/** The long run of test/crash/crash.test.ts: `npm run test:crash -- [kills at random moments] [kills at each step]`. */
import { spawnSync } from 'node:child_process';

const [kills = '50', each = '5'] = process.argv.slice(2);
const { status } = spawnSync('npx', ['tap', '--timeout=7200', 'test/crash/crash.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, CRASH_KILLS: kills, CRASH_EACH: each },
});
process.exitCode = status ?? 1;
