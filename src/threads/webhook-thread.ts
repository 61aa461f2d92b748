/** Entry point of the thread that sends webhooks. Messages wake it, and the message `stop` ends it. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Config } from '../config.ts';
import { connect } from '../database/open.ts';
import { systemClock } from '../time/clock.ts';
import { Dispatcher } from '../webhooks/dispatcher.ts';

/** The pause between two steps while there is work, in milliseconds. */
const BUSY_MS = 50;
/** The pause after a step that failed or left no work, in milliseconds. */
const IDLE_MS = 250;

const config: Config = workerData;
const { $client: client } = connect(config.DATABASE_PATH);
const allowPrivate = config.WEBHOOK_PRIVATE_ADDRESSES === 'allow';
const dispatcher = new Dispatcher({ client, clock: systemClock, allowPrivate });
let isStopping = false;
let wake: () => void = () => undefined;

parentPort?.on('message', (message) => {
  if (message === 'stop') isStopping = true;
  dispatcher.changed();
  wake();
});

/**
 * Runs a step. If it fails, for example on a full disk, logs the error; the step is repeated after the pause, because pending events are on
 * disk.
 */
function stepSafely(): boolean {
  try {
    return dispatcher.step();
  } catch (error) {
    parentPort?.postMessage({
      fields: { err: String(error) },
      text: 'webhooks could not be told; it will be tried again',
      level: 'warn',
    });
    return false;
  }
}

while (!isStopping) {
  const pause = stepSafely() ? BUSY_MS : IDLE_MS;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, pause);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
await dispatcher.close();
client.close();
parentPort?.close();
