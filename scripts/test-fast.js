/** The fast part of the tests, `npm run test:fast`: all test files but those listed here, of which each takes more than a few seconds. */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';

/** Files, and folders with all that is in them. `npm test` runs these too. */
const SLOW = [
  'test/automations/automation-month.test.ts',
  'test/browser.test.ts',
  'test/commands',
  'test/contract',
  'test/crash',
  'test/delivery/transport/smtp/postfix.test.ts',
  'test/docs',
  'test/fuzz',
  'test/http/process.test.ts',
  'test/month',
  'test/reporter.test.ts',
  'test/scripts/build.test.ts',
  'test/scripts/demo.test.ts',
  'test/scripts/dev.test.ts',
  'test/server.test.ts',
];

const files = globSync('test/**/*.test.{ts,tsx}').filter(
  (file) => !SLOW.some((slow) => file === slow || file.startsWith(`${slow}/`)),
);
const { status } = spawnSync('npx', ['tap', ...process.argv.slice(2), ...files], { stdio: 'inherit' });
process.exitCode = status ?? 1;
