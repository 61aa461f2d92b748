#!/usr/bin/env node
/**
 * The program's entry point. It imports nothing that loads a package before the version of Node is checked: the
 * database addon crashes a Node that is too old, and static imports are loaded before the first statement of a file
 * runs. Its static imports name only what every older Node exports too, because a missing name would end the start before the check.
 */
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { restartWithOneArena } from './commands/restart-in-place.ts';

/** The same as `engines` in package.json. */
const OLDEST = { major: 22, minor: 18 };

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
  console.error(
    `Sendlark needs Node ${OLDEST.major}.${OLDEST.minor} or newer, and this is ${process.versions.node}. In a checkout, npm start runs it with the one that npm ci installed.`,
  );
  process.exitCode = 1;
} else {
  restartWithOneArena();
  // Caches the code that V8 compiles, because compiling it again takes a tenth of the startup time. If the folder is not writable, nothing
  // is cached. Node's default, the folder for temporary files, is not used, because anyone who may write there could place code in it.
  const { enableCompileCache } = await import('node:module');
  const cache = join(import.meta.dirname, '../node_modules/.cache/start');
  enableCompileCache(cache);
  // Worker threads use the cache only if this variable is set.
  process.env.NODE_COMPILE_CACHE ??= cache;
  // Most new objects (of requests, rows and mails) are short-lived, so a larger space for new objects, which has hundreds of MB on Node 24,
  // saves no time. Once Node runs, the space of the main thread can no longer be limited, but its growth can be prevented.
  setFlagsFromString('--semi-space-growth-factor=1');
  await import('./commands/index.ts');
}
