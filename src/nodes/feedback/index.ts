/**
 * The controller's side of public pages on nodes: publishes what nodes need, applies what they report, and stores every choice in
 * JetStream.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Config } from '../../config.ts';
import type { Db } from '../../database/open.ts';
import { isBusy, type WriteLock } from '../../database/write-lock.ts';
import { HitBuffer } from '../../delivery/feedback/opens-and-clicks.ts';
import { type Choice, withoutKept } from '../../delivery/feedback/preference-choice.ts';
import type { RecipientIds, Tokens } from '../../delivery/links/tokens.ts';
import { FailingSteps } from '../../delivery/queue/failing-steps.ts';
import { addRefusedMessages, type RefusedMessage } from '../../delivery/reporting/refused-messages.ts';
import { unavailable } from '../../errors/failure.ts';
import type { Log } from '../../log.ts';
import { changesOf, PreferenceStore } from '../../pages/preferences.ts';
import type { Clock } from '../../time/clock.ts';
import { withTimeout } from '../bucket.ts';
import { connectNats } from '../connection.ts';
import { decodeHits } from '../feedback-messages.ts';
import { publishChoice } from '../keep-consent.ts';
import { Refusals } from '../refusals.ts';
import { ALL_STREAMS, MAX_HIT_AGE_MS, makeStreams, STREAM, streamCreationTimes } from '../streams.ts';
import { answerNodes, keptLists } from './answers.ts';
import { consentApplier } from './apply-consent.ts';
import { Content } from './content.ts';
import { keepErased } from './erasures.ts';
import { follow } from './follow.ts';
import { Progress, startRecording } from './position.ts';
import { ChangePublisher, queueEverything, queueEverythingOnce } from './publish-changes.ts';

/** How often data for nodes is published, and what they report is recorded. */
const REFRESH_MS = 500;
/** How often changes of lists are published. */
const PUBLISH_MS = 100;
/** How often the streams and buckets in JetStream are checked. */
const KEEP_MS = 1000;
const RETRY_MS = 1000;
/** How long a choice waits for NATS, for example at startup. */
const READY_MS = 8000;
/** How long a page waits until its choice, which is already durable, is in the database. */
const APPLIED_MS = 20_000;
/** How long an answer about a contact's choices waits for choices that are being applied. */
const CURRENT_MS = 500;

interface FeedbackDeps {
  db: Db;
  lock: WriteLock;
  config: Config;
  clock: Clock;
  tokens: Tokens;
  publicUrl(): string;
  log: Log;
}

/** Supports the pages of nodes from its construction until `close`. NATS need not be available yet. */
export class Feedback {
  readonly #deps: FeedbackDeps;
  readonly #ending = new AbortController();
  readonly #hits: HitBuffer;
  readonly #store: PreferenceStore;
  readonly #refusals: Refusals;
  readonly #failing: FailingSteps;
  readonly #progress = new Progress();
  /** The name of this run. The stream also contains the changes of this run, which are recognized by this name. */
  readonly #run = randomUUID();
  readonly #ready = Promise.withResolvers<NatsConnection>();
  readonly #running: Promise<void>;
  #connection: NatsConnection | null = null;
  /** True while the connection to NATS is lost. */
  #isCutOff = false;
  /** When each stream was created, by name, at the last check. */
  #created: ReadonlyMap<string, string> = new Map();

  constructor(deps: FeedbackDeps) {
    this.#deps = deps;
    const { $client: client } = deps.db;
    this.#hits = new HitBuffer(client);
    this.#store = new PreferenceStore(deps.db);
    this.#refusals = new Refusals(deps.log);
    this.#failing = new FailingSteps(client, 'node_pages', () => performance.now(), deps.log);
    this.#running = this.#work().catch((error: unknown) => {
      // An error ends the thread, which is then restarted.
      if (!this.#ending.signal.aborted) throw error;
    });
  }

  /** The same as `keepChoice` of `Deps`: fails with 503 while NATS is not available. */
  async keepChoice(token: string, ids: RecipientIds, choice: Choice): Promise<void> {
    const { db, clock, tokens } = this.#deps;
    const connection = await withTimeout(this.#ready.promise, READY_MS);
    const isCurrent = await this.#isCurrent(connection);
    const chosen = changesOf({ ...this.#store.read(ids), isCurrent }, choice);
    const changes = isCurrent ? withoutKept(chosen, keptLists(db.$client, ids)) : chosen;
    const chooser = { ids, token, at: clock.now().getTime() };
    const sequence = await publishChoice(jetstream(connection), tokens, chooser, changes);
    if (sequence > 0 && !(await this.#progress.until(sequence, APPLIED_MS))) throw unavailable();
  }

  /** Stops all work and closes the connection to NATS. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#running;
    await this.#connection?.close();
    await this.#writeRefusals().catch((error: unknown) =>
      this.#deps.log({ err: String(error) }, 'the number of refused questions of nodes could not be recorded', 'warn'),
    );
  }

  async #work(): Promise<void> {
    const { db, lock, config, clock, tokens, publicUrl, log } = this.#deps;
    const { signal } = this.#ending;
    await lock.write(() => startRecording(db.$client, STREAM.consents), APPLIED_MS);
    const connection = await connectNats(config, { name: 'brain', signal, log });
    this.#connection = connection;
    void this.#watch(connection);
    await this.#untilStreamsExist(connection);
    this.#ready.resolve(connection);
    const content = new Content(connection, db, publicUrl);
    this.#created = await streamCreationTimes(connection);
    const publisher = new ChangePublisher({ connection, db, lock, tokens, run: this.#run });
    void answerNodes(connection, db, tokens, content, {
      isCurrent: () => this.#isCurrent(connection),
      refused: (subject) => this.#refusals.add('question', { subject }),
    });
    await queueEverythingOnce(db, lock);
    await Promise.all([
      this.#followChoices(connection, content),
      this.#followHits(connection),
      this.#repeat('streams of NATS', KEEP_MS, () => this.#keepStreams(connection, content)),
      this.#repeat('content for nodes', REFRESH_MS, () => content.refresh()),
      this.#repeat('opens and clicks', REFRESH_MS, async () => this.#flushEarly()),
      this.#repeat('marks of erased people', REFRESH_MS, () => keepErased({ connection, db, lock, clock })),
      this.#repeat('counts of refused messages', REFRESH_MS, () => this.#writeRefusals()),
      this.#repeat('choices for NATS', PUBLISH_MS, () => publisher.publish()),
      this.#repeat('failing steps', KEEP_MS, () => lock.write(() => this.#failing.write(), APPLIED_MS)),
    ]);
  }

  /** Applies the choices in JetStream to the database. */
  #followChoices(connection: NatsConnection, content: Content): Promise<void> {
    const { db, lock, tokens, clock } = this.#deps;
    const applyConsent = consentApplier(db, tokens, clock, this.#run);
    return follow({
      ...this.#followOptions(connection, STREAM.consents, 'choice'),
      begin: () => {
        content.forget();
        return queueEverything(db, lock);
      },
      apply(text, subject, proof) {
        applyConsent(text, subject, proof);
        return null;
      },
      onApplied: (sequence) => this.#progress.reached(sequence),
    });
  }

  /** Records the opens and clicks that nodes report. */
  #followHits(connection: NatsConnection): Promise<void> {
    const { clock } = this.#deps;
    return follow({
      ...this.#followOptions(connection, STREAM.hits, 'hits'),
      apply: (text) => {
        const decoded = decodeHits(text);
        if (decoded === null) throw new Error('the opens and clicks are malformed');
        const now = clock.now().getTime();
        const clamp = (at: number) => Math.min(now, Math.max(now - MAX_HIT_AGE_MS, at));
        return this.#hits.record(decoded.map((hit) => ({ ...hit, at: clamp(hit.at) })));
      },
      onApplied: () => undefined,
    });
  }

  /** Returns the options that following any stream needs. Messages that cannot be applied are counted as `kind`. */
  #followOptions(connection: NatsConnection, stream: string, kind: RefusedMessage) {
    const { db, lock, log } = this.#deps;
    const refuse = (fields: object) => {
      addRefusedMessages(db.$client, kind, 1);
      return () => this.#refusals.log(kind, fields);
    };
    const note = (step: string, hasWorked: boolean) => this.#note(step, hasWorked);
    return { connection, stream, db, lock, log, note, refuse, signal: this.#ending.signal };
  }

  /** Creates deleted streams and buckets again, and publishes again the data that nodes need. */
  async #keepStreams(connection: NatsConnection, content: Content): Promise<void> {
    const created = await streamCreationTimes(connection);
    const missing = ALL_STREAMS.filter((name) => !created.has(name));
    if (missing.length > 0) {
      await makeStreams(connection);
      this.#deps.log(
        { streams: missing },
        'NATS had lost streams and their contents; the streams were created again',
        'warn',
      );
    }
    const current = missing.length > 0 ? await streamCreationTimes(connection) : created;
    if (ALL_STREAMS.some((name) => current.get(name) !== this.#created.get(name))) content.forget();
    this.#created = current;
  }

  /**
   * Records for `/readyz` whether a step worked. A failure while NATS cannot be reached does not count, because a restart of the service would
   * not help.
   */
  #note(step: string, hasWorked: boolean): void {
    if (hasWorked || this.#isCutOff) this.#failing.worked(step);
    else this.#failing.failed(step);
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') this.#isCutOff = true;
      if (type === 'reconnect') this.#isCutOff = false;
    }
  }

  async #writeRefusals(): Promise<void> {
    const { db, lock } = this.#deps;
    await lock.write(() => this.#refusals.flush(db.$client), APPLIED_MS);
  }

  async #untilStreamsExist(connection: NatsConnection): Promise<void> {
    const { signal } = this.#ending;
    for (;;) {
      signal.throwIfAborted();
      try {
        return await makeStreams(connection);
      } catch (error) {
        this.#deps.log({ err: String(error) }, 'JetStream is not ready; trying again', 'warn');
        await setTimeout(RETRY_MS, null, { signal });
      }
    }
  }

  /** Repeats a task until the service stops: every `everyMs` milliseconds, or `RETRY_MS` after a failure. A repeated error is logged once. */
  async #repeat(step: string, everyMs: number, task: () => Promise<void>): Promise<void> {
    const { signal } = this.#ending;
    let lastLogged = '';
    while (!signal.aborted) {
      try {
        await task();
        lastLogged = '';
        this.#note(step, true);
      } catch (error) {
        this.#note(step, false);
        if (lastLogged !== String(error))
          this.#deps.log({ err: String(error) }, 'work for the public pages of nodes failed; trying again', 'warn');
        lastLogged = String(error);
      }
      await setTimeout(lastLogged === '' ? everyMs : RETRY_MS, null, { signal }).catch(() => undefined);
    }
  }

  /** Retries hits whose mail was not recorded as accepted when they arrived. */
  #flushEarly(): void {
    try {
      this.#hits.flush(this.#deps.clock.now().getTime());
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
  }

  /**
   * Returns true if the database has everything that the stream of choices contains now. Waits for that briefly. Returns false if NATS does
   * not reply.
   */
  async #isCurrent(connection: NatsConnection): Promise<boolean> {
    try {
      const manager = await jetstreamManager(connection, { checkAPI: false, timeout: CURRENT_MS });
      const { state } = await manager.streams.info(STREAM.consents);
      return await this.#progress.until(state.last_seq, CURRENT_MS);
    } catch {
      return false;
    }
  }
}
