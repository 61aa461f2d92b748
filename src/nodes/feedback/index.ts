/**
 * The controller's side of public pages on nodes: publishes what nodes need, applies what they report, and stores every choice in
 * JetStream.
 */

import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { erasePerson } from '../../audience/person/erase.ts';
import { recordedWrites, removeRecordedWrite } from '../../audience/unfinished-writes.ts';
import type { Config } from '../../config.ts';
import { addNamedValue, findNamedValue } from '../../database/named-values.ts';
import type { Db } from '../../database/open.ts';
import { isBusy, type WriteLock } from '../../database/write-lock.ts';
import { HitBuffer } from '../../delivery/feedback/opens-and-clicks.ts';
import { type Choice, type ErasedContact, TRACKING, withoutKept } from '../../delivery/feedback/preference-choice.ts';
import type { RecipientIds, Tokens } from '../../delivery/links/tokens.ts';
import { FailingSteps } from '../../delivery/queue/failing-steps.ts';
import { addRefusedMessages, type RefusedMessage } from '../../delivery/reporting/sender-nodes.ts';
import { unavailable } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import type { Log } from '../../log.ts';
import { changesOf, PreferenceStore } from '../../pages/preferences.ts';
import type { Clock } from '../../time/clock.ts';
import { withTimeout } from '../bucket.ts';
import { connectNats } from '../connection.ts';
import { decodeHits, erasedSubject, personSubjects, SUPPRESSED } from '../feedback-messages.ts';
import { publishChoice } from '../keep-consent.ts';
import { Refusals } from '../refusals.ts';
import { ALL_STREAMS, MAX_HIT_AGE_MS, makeStreams, STREAM, streamCreationTimes } from '../streams.ts';
import { answerNodes, keptLists } from './answers.ts';
import { consentApplier } from './apply-consent.ts';
import { Content } from './content.ts';
import { follow } from './follow.ts';
import { Progress, startRecording } from './place.ts';
import { ChangePublisher } from './publish-changes.ts';

const REFRESH_MS = 500;
const PUBLISH_MS = 100;
/** How often to check that everything in JetStream is still there. */
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

interface Feedback {
  /** The same as `keepChoice` of `Deps`. */
  keepChoice(token: string, ids: RecipientIds, choice: Choice): Promise<void>;
  close(): Promise<void>;
}

/** Starts the controller's side. NATS need not be available yet: until it is, choices are answered with 503. */
export function startFeedback(deps: FeedbackDeps): Feedback {
  const { db, lock, config, clock, tokens, log } = deps;
  const ending = new AbortController();
  const { signal } = ending;
  const hits = new HitBuffer(db.$client);
  const store = new PreferenceStore(db);
  const refusals = new Refusals(deps.log);
  const failing = new FailingSteps(db.$client, 'node_pages', () => performance.now(), log);
  const progress = new Progress();
  /** The name of this run, whose own changes come back in the stream. */
  const run = randomUUID();
  let connection: NatsConnection | null = null;
  let isCutOff = false;
  const ready = Promise.withResolvers<NatsConnection>();

  const work = async () => {
    await lock.write(() => startRecording(db.$client, STREAM.consents), APPLIED_MS);
    const connected = await connectNats(config, { name: 'brain', signal, log });
    connection = connected;
    void watch(connected);
    await untilItWorks(() => makeStreams(connected));
    ready.resolve(connected);
    const content = new Content(connected, db, deps.publicUrl);
    let made = await streamCreationTimes(connected);
    /** Creates deleted streams and buckets again, and publishes the data that nodes need. */
    const keepStreams = async () => {
      const found = await streamCreationTimes(connected);
      const missing = ALL_STREAMS.filter((name) => !found.has(name));
      if (missing.length > 0) {
        await makeStreams(connected);
        deps.log(
          { streams: missing },
          'streams were gone from NATS, with what was in them; they were made again',
          'warn',
        );
      }
      const now = missing.length > 0 ? await streamCreationTimes(connected) : found;
      if (ALL_STREAMS.some((name) => now.get(name) !== made.get(name))) content.forget();
      made = now;
    };
    const common = { connection: connected, db, lock, clock, tokens, run, log, note, signal };
    const publisher = new ChangePublisher(common);
    const applyConsent = consentApplier(db, tokens, clock, run);
    void answerNodes(connected, db, tokens, content, {
      isCurrent: () => isCurrent(connected),
      refused: (subject) => refusals.add('question', { subject }),
    });
    await publishSigned(db, lock);
    await Promise.all([
      follow({
        ...common,
        stream: STREAM.consents,
        begin: () => {
          content.forget();
          return publishEverything(db, lock);
        },
        apply(text, subject, proof) {
          applyConsent(text, subject, proof);
          return null;
        },
        refuse: refuseAs('choice'),
        applied: (sequence) => progress.reached(sequence),
      }),
      follow({
        ...common,
        stream: STREAM.hits,
        apply(text) {
          const decoded = decodeHits(text);
          if (decoded === null) throw new Error('the opens and clicks are malformed');
          const now = clock.now().getTime();
          const inTime = (at: number) => Math.min(now, Math.max(now - MAX_HIT_AGE_MS, at));
          return hits.record(decoded.map((hit) => ({ ...hit, at: inTime(hit.at) })));
        },
        refuse: refuseAs('hits'),
        applied: () => undefined,
      }),
      repeat('streams of NATS', KEEP_MS, keepStreams),
      repeat('content for nodes', REFRESH_MS, () => content.refresh()),
      repeat('opens and clicks', REFRESH_MS, async () => flushEarly()),
      repeat('marks of erased people', REFRESH_MS, () => keepErased(common)),
      repeat('counts of refused messages', REFRESH_MS, writeRefusals),
      repeat('choices for NATS', PUBLISH_MS, () => publisher.publish()),
      repeat('failing steps', KEEP_MS, () => lock.write(() => failing.write(), APPLIED_MS)),
    ]);
  };
  /** Records for `/readyz` whether a step worked. Without NATS nothing works, and a restart of the service would not help. */
  const note = (step: string, hasWorked: boolean) => {
    if (hasWorked || isCutOff) failing.worked(step);
    else failing.failed(step);
  };
  const watch = async (connected: NatsConnection) => {
    for await (const { type } of connected.status()) {
      if (type === 'disconnect') isCutOff = true;
      if (type === 'reconnect') isCutOff = false;
    }
  };
  const refuseAs = (kind: RefusedMessage) => (fields: object) => {
    addRefusedMessages(db.$client, kind, 1);
    return () => refusals.log(kind, fields);
  };
  const writeRefusals = () => lock.write(() => refusals.flush(db.$client), APPLIED_MS);
  /** Repeats a task until it succeeds. */
  const untilItWorks = async (task: () => Promise<void>) => {
    for (;;) {
      signal.throwIfAborted();
      try {
        return await task();
      } catch (error) {
        log({ err: String(error) }, 'JetStream is not ready; trying again', 'warn');
        await setTimeout(RETRY_MS, null, { signal });
      }
    }
  };
  const repeat = async (step: string, everyMs: number, task: () => Promise<void>) => {
    let lastLogged = '';
    while (!signal.aborted) {
      try {
        await task();
        lastLogged = '';
        note(step, true);
      } catch (error) {
        note(step, false);
        if (lastLogged !== String(error))
          log({ err: String(error) }, 'NATS did not take what it is to keep; trying again', 'warn');
        lastLogged = String(error);
      }
      await setTimeout(lastLogged === '' ? everyMs : RETRY_MS, null, { signal }).catch(() => undefined);
    }
  };
  /** Retries hits whose mail was not recorded as accepted when they arrived. */
  const flushEarly = () => {
    try {
      hits.flush(clock.now().getTime());
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
  };
  /** Whether everything in the stream up to now is in the database, waiting briefly for it; also false while NATS does not reply. */
  const isCurrent = async (connected: NatsConnection): Promise<boolean> => {
    try {
      const manager = await jetstreamManager(connected, { checkAPI: false, timeout: CURRENT_MS });
      const { state } = await manager.streams.info(STREAM.consents);
      return await progress.until(state.last_seq, CURRENT_MS);
    } catch {
      return false;
    }
  };
  const running = work().catch((error: unknown) => {
    // Ends the thread, which is then restarted.
    if (!signal.aborted) throw error;
  });

  return {
    async keepChoice(token, ids, choice) {
      const connected = await withTimeout(ready.promise, READY_MS);
      const known = await isCurrent(connected);
      const chosen = changesOf({ ...store.read(ids), isCurrent: known }, choice);
      const changes = known ? withoutKept(chosen, keptLists(db.$client, ids)) : chosen;
      const chooser = { ids, token, at: clock.now().getTime() };
      const sequence = await publishChoice(jetstream(connected), tokens, chooser, changes);
      if (sequence > 0 && !(await progress.until(sequence, APPLIED_MS))) throw unavailable();
    },
    async close() {
      ending.abort();
      await running;
      await connection?.close();
      await writeRefusals().catch((error: unknown) =>
        log({ err: String(error) }, 'how many questions of nodes were refused could not be written', 'warn'),
      );
    },
  };
}

const ERASING_WAIT_MS = 10_000;

interface ErasureDeps {
  connection: NatsConnection;
  db: Db;
  lock: WriteLock;
  clock: Clock;
}

/** Carries out the erasures recorded since the last call. Throws while NATS or the database cannot do it; the records then stay. */
async function keepErased({ connection, db, lock, clock }: ErasureDeps): Promise<void> {
  const client = db.$client;
  for (const { id, given } of recordedWrites(client, 'erase-again')) {
    const { account, address }: ErasedContact = JSON.parse(given);
    await erasePerson(db, clock, account, address, { userId: null, name: sentence('actor_operator'), address: '' });
    await lock.write(() => removeRecordedWrite(client, id), ERASING_WAIT_MS);
  }
  for (const { id, given } of recordedWrites(client, 'erase-choices')) {
    const erased: ErasedContact = JSON.parse(given);
    const manager = await jetstreamManager(connection, { checkAPI: false });
    // The marker comes first: a choice made meanwhile with an old link is then removed when the controller reads it.
    const mark = JSON.stringify({ address: erased.address });
    const { seq } = await jetstream(connection).publish(erasedSubject(erased), mark);
    await manager.streams.purge(STREAM.consents, { filter: personSubjects(erased), seq });
    await lock.write(() => removeRecordedWrite(client, id), ERASING_WAIT_MS);
  }
}

const STEP_ROWS = 2000;
const PUBLISHING_WAIT_MS = 60_000;

const CREATED = "CAST(unixepoch(created_at, 'subsec') * 1000 AS INTEGER)";
/** The name of the stored value which says that everything was published with proofs. */
const SIGNED = 'choices_published_with_proofs';
const LISTS = [
  { table: 'unsubscribers', list: 'ifnull(unsubscribe_groups_id, 0)', at: CREATED, which: 'true' },
  { table: 'suppressions', list: SUPPRESSED, at: CREATED, which: 'true' },
  {
    table: 'addresses',
    list: TRACKING,
    at: `ifnull((SELECT max(${CREATED}) FROM consent_log
      WHERE address_id = addresses.id AND action IN ('tracking_allowed', 'tracking_refused')), 0)`,
    which: 'tracking_choice <> 0',
  },
] as const;

/** Adds all list entries to those to be published, in short transactions. Entries that already wait stay as they are. */
async function publishEverything(db: Db, lock: WriteLock): Promise<void> {
  for (const { table, list, at, which } of LISTS) {
    const step = db.$client.prepare(`
      INSERT OR IGNORE INTO unpublished_choices (user_id, address_id, list, changed_at)
      SELECT user_id, ${table === 'addresses' ? 'id' : 'address_id'}, ${list}, ${at}
      FROM ${table} WHERE id > @after AND id <= @to AND ${which}`);
    const end = db.$client
      .prepare<[number], number | null>(
        `SELECT max(id) FROM (SELECT id FROM ${table} WHERE id > ? AND ${which} ORDER BY id LIMIT ${STEP_ROWS})`,
      )
      .pluck();
    for (let after = 0, to = end.get(0) ?? 0; to > after; after = to, to = end.get(after) ?? 0) {
      const range = { after, to };
      await lock.write(() => step.run(range), PUBLISHING_WAIT_MS);
      await setImmediate();
    }
  }
}

/**
 * Publishes everything once with this release, because entries published by earlier releases have no proof, so a restored backup would
 * ignore them.
 */
async function publishSigned(db: Db, lock: WriteLock): Promise<void> {
  if (findNamedValue(db.$client, SIGNED) !== null) return;
  await publishEverything(db, lock);
  await lock.write(() => addNamedValue(db.$client, SIGNED, ''), PUBLISHING_WAIT_MS);
}
