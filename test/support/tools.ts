/** Programs that some tests need and a machine may lack: such a test is skipped and says why. */
import { accessSync, constants } from 'node:fs';
import { CHROMIUM } from '../../fixtures/chromium.ts';
import { NATS_SERVER } from '../../fixtures/nats.ts';

const PATHS = {
  chromium: CHROMIUM,
  nats: NATS_SERVER,
  php: '/usr/bin/php',
  postfix: '/usr/sbin/postfix',
  promtool: '/usr/bin/promtool',
  python: '/usr/bin/python3',
  script: '/usr/bin/script',
} as const;
type Tool = keyof typeof PATHS;

/** Tools that are treated as missing though they are there, with commas between: `TEST_WITHOUT=chromium,nats,postfix npm test`. */
const HIDDEN = process.env.TEST_WITHOUT?.split(',') ?? [];

/** Where a tool is, if it is installed. */
export function toolPath(tool: Tool): string {
  return PATHS[tool];
}

/** Why a test that needs the tool is skipped, or false where it can run: the `skip` option of a test. */
export function skipWithout(tool: Tool): string | false {
  if (HIDDEN.includes(tool)) return `TEST_WITHOUT hides ${tool}`;
  try {
    accessSync(PATHS[tool], constants.X_OK);
    return false;
  } catch {
    return `${PATHS[tool]} is not installed`;
  }
}
