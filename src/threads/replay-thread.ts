/**
 * Entry point of the thread of one replay. It runs the automation over the past, and then answers queries about the paths that contacts
 * took.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { replay } from '../automations/replay/engine.ts';
import type { PathsAsked, ReplayMessage, ReplayThreadData } from '../automations/replay/replays.ts';
import { readFigures, readPaths } from '../automations/replay/result.ts';
import { openView } from '../automations/replay/view.ts';

/** The share of the replay after which progress is reported again. */
const REPORTED_SHARE = 0.01;

const { path, config, account, plan }: ReplayThreadData = workerData;
const post = (message: ReplayMessage) => parentPort?.postMessage(message);
const view = openView(path);
let reportedShare = 0;
const replayed = await replay(view, config, plan, (share) => {
  if (share < reportedShare + REPORTED_SHARE) return;
  reportedShare = share;
  post({ share });
});
post({ figures: readFigures(view, replayed) });
parentPort?.on('message', ({ id, query }: PathsAsked) => post({ id, paths: readPaths(view, account, query) }));
