/**
 * Entry point of the thread that supports the public pages of sender nodes and stores recipients' choices in JetStream. It receives the
 * choices made on the pages of this process and replies to each. The message `stop` ends it.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Config } from '../config.ts';
import { connect } from '../database/open.ts';
import { WriteLock } from '../database/write-lock.ts';
import { findPublicUrl } from '../delivery/links/public-url.ts';
import { openTokens } from '../delivery/links/tokens.ts';
import { Failure } from '../errors/failure.ts';
import { Feedback } from '../nodes/feedback/index.ts';
import { systemClock } from '../time/clock.ts';
import type { ChoiceMessage, FeedbackMessage } from './feedback.ts';

const { config, origin }: { config: Config; origin: string } = workerData;
const db = connect(config.DATABASE_PATH);
const send = (message: FeedbackMessage) => parentPort?.postMessage(message);
const feedback = new Feedback({
  db,
  lock: new WriteLock(db.$client),
  config,
  clock: systemClock,
  tokens: openTokens(db.$client),
  publicUrl: () => findPublicUrl(db.$client, config).url || origin,
  log: (fields, text, level) => send({ fields, text, level }),
});

parentPort?.on('message', (message: ChoiceMessage | 'stop') => {
  if (message === 'stop') void close();
  else void keep(message);
});

async function keep({ number, token, ids, choice }: ChoiceMessage): Promise<void> {
  const isKept = await feedback.keepChoice(token, ids, choice).then(
    () => true,
    (error: unknown) => {
      // A failure is expected while NATS cannot be reached or the database is locked, both of which are logged elsewhere.
      if (!(error instanceof Failure))
        send({ fields: { err: String(error) }, text: 'a choice was not kept', level: 'error' });
      return false;
    },
  );
  send({ number, isKept });
}

async function close(): Promise<void> {
  await feedback.close();
  db.$client.close();
  parentPort?.close();
}
