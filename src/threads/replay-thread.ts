/** Entry point of the thread of one replay: it runs the automation over the past and then answers which path a contact took. */
import { parentPort, workerData } from 'node:worker_threads';
import { replay } from '../automations/replay/engine.ts';
import type { PathsAsked, ReplayMessage, ReplayThreadData } from '../automations/replay/replays.ts';
import { readFigures, readPaths } from '../automations/replay/result.ts';
import { openView } from '../automations/replay/view.ts';

/** Progress is reported each time a further share of this size is done. */
const REPORTED = 0.01;

const { path, config, account, plan }: ReplayThreadData = workerData;
const tell = (message: ReplayMessage) => parentPort?.postMessage(message);
const view = openView(path);
let told = 0;
const replayed = await replay(view, config, plan, (share) => {
  if (share < told + REPORTED) return;
  told = share;
  tell({ share });
});
tell({ figures: readFigures(view, replayed) });
parentPort?.on('message', ({ id, query }: PathsAsked) => tell({ id, paths: readPaths(view, account, query) }));
