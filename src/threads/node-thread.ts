/** Entry point of the thread in which the service is a sender node too, with NODE=on. The message `stop` ends it. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Config } from '../config.ts';
import { startNode } from '../nodes/node/start.ts';

const { config }: { config: Config } = workerData;
const node = startNode(config, (fields, text) => parentPort?.postMessage({ fields, text }));
parentPort?.on('message', (message) => {
  if (message === 'stop') void node.close().finally(() => parentPort?.close());
});
