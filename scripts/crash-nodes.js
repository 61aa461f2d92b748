/** The long run of test/nodes/kills.test.ts: `npm run crash:nodes -- [rounds]`. It needs Debian's package nats-server. */
import { spawnSync } from 'node:child_process';

const [rounds = '20'] = process.argv.slice(2);
const { status } = spawnSync('npx', ['tap', '--timeout=14400', 'test/nodes/kills.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, NODE_ROUNDS: rounds },
});
process.exitCode = status ?? 1;
