/** The brain's side of recipients' pages: publishes what nodes need, applies what they report, and keeps choices made on its own pages. */
import { setTimeout } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { isBusy } from '../../database/write-lock.ts';
import { HitBuffer } from '../../delivery/feedback/opens-and-clicks.ts';
import type { Deps } from '../../deps.ts';
import { unavailable } from '../../failure.ts';
import { checkNatsFiles, connectNats } from '../connection.ts';
import { decodeHits } from '../feedback-messages.ts';
import { keepConsent } from '../keep-consent.ts';
import { makeStreams, STREAM } from '../streams.ts';
import { answerNodes } from './answers.ts';
import { consentApplier } from './apply-consent.ts';
import { Content } from './content.ts';
import { eraseChoices } from './erase-choices.ts';
import { follow } from './follow.ts';

const REFRESH_MS = 500;
const RETRY_MS = 1000;
/** How long a page waits until its choice, which is durable by then, is in the database. */
const APPLIED_MS = 20_000;

type FeedbackDeps = Pick<Deps, 'db' | 'lock' | 'config' | 'clock' | 'tokens' | 'publicUrl'> & {
  log(fields: Record<string, unknown>, text: string): void;
};

export interface Feedback {
  keepChoice: NonNullable<Deps['keepChoice']>;
  close(): Promise<void>;
}

/** Starts it. NATS need not be there: it is waited for, and choices are answered with 503 until then. Throws when a file of the settings cannot be used. */
export function startFeedback(deps: FeedbackDeps): Feedback {
  const { db, lock, config, clock, tokens, log } = deps;
  checkNatsFiles(config);
  const ending = new AbortController();
  const { signal } = ending;
  const hits = new HitBuffer(db.$client);
  const applyConsent = consentApplier(db, tokens);
  let connection: NatsConnection | null = null;
  let appliedTo = 0;
  const waiting = new Set<() => void>();

  const run = async () => {
    connection = await connectNats(config, { name: 'brain', signal, log });
    await untilItWorks(() => makeStreams(connection as NatsConnection));
    const content = new Content(connection, db, deps.publicUrl);
    const common = { connection, db, lock, log, signal };
    void answerNodes(connection, db, tokens, content);
    const applied = (sequence: number) => {
      appliedTo = sequence;
      for (const look of waiting) look();
    };
    await Promise.all([
      follow({ ...common, stream: STREAM.consents, apply: applyConsent, applied }),
      follow({
        ...common,
        stream: STREAM.hits,
        apply: (text) => hits.record(decodeHits(text)),
        applied: () => undefined,
      }),
      repeat(() => content.refresh()),
      repeat(async () => flushEarly()),
      repeat(() => eraseChoices(common)),
    ]);
  };
  /** Does something until it works once. */
  const untilItWorks = async (work: () => Promise<void>) => {
    for (;;) {
      signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        log({ err: String(error) }, 'JetStream is not ready; trying again');
        await setTimeout(RETRY_MS, null, { signal });
      }
    }
  };
  const repeat = async (work: () => Promise<void>) => {
    while (!signal.aborted) {
      await work().catch((error) => log({ err: String(error) }, 'NATS did not take what nodes need; trying again'));
      await setTimeout(REFRESH_MS, null, { signal }).catch(() => undefined);
    }
  };
  /** Tries hits again whose mail was not recorded as accepted when they came. */
  const flushEarly = () => {
    try {
      hits.flush(clock.now().getTime());
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
  };
  const running = run().catch((error) => {
    if (!signal.aborted) log({ err: String(error) }, 'sender nodes cannot be served');
  });
  const untilApplied = (sequence: number) =>
    new Promise<boolean>((resolve) => {
      const timer = globalThis.setTimeout(() => finish(false), APPLIED_MS);
      const look = () => {
        if (appliedTo >= sequence) finish(true);
      };
      const finish = (isApplied: boolean) => {
        clearTimeout(timer);
        waiting.delete(look);
        resolve(isApplied);
      };
      waiting.add(look);
      look();
    });

  return {
    async keepChoice(token, ids, choice) {
      if (connection === null) throw unavailable();
      const consent = {
        token,
        account: ids.user,
        address: ids.address,
        email: ids.email,
        choice,
        at: clock.now().getTime(),
      };
      const sequence = await keepConsent(jetstream(connection), consent);
      if (!(await untilApplied(sequence))) throw unavailable();
    },
    async close() {
      ending.abort();
      await running;
      await connection?.close();
    },
  };
}
