/** Entry point of the thread in which the service acts as a sender node too, with SENDER_NODE=on. The message `stop` ends it. */

import { parentPort, workerData } from 'node:worker_threads';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { startNode } from '../nodes/node/start.ts';

const { config }: { config: Config } = workerData;
const log: Log = (fields, text, level) => parentPort?.postMessage({ fields, text, level });
const node = startNode(config, log, { servesPages: false });
parentPort?.on('message', (message) => {
  if (message === 'stop') void node.close().finally(() => parentPort?.close());
});
