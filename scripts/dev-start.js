/** What the service of `npm run dev` runs first, at each start: it builds what browsers load, where that has changed. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import './run-sources.js';

// With this variable of `node --watch`, each worker thread reports its imports as messages to whoever started it, who would take
// them for its own. The whole folder is watched instead.
delete process.env.WATCH_REPORT_DEPENDENCIES;

if (isMainThread) {
  const build = fileURLToPath(new URL('build.js', import.meta.url));
  spawnSync(process.execPath, [build, '--browser-only'], { stdio: ['ignore', 'ignore', 'inherit'] });
}
