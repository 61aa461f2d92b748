/** Runs the service: database, HTTP, background and import threads; stops them in order. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import type { FastifyInstance } from 'fastify';
import { buildApp } from './app.ts';
import type { ImportReport } from './audience/import/import.ts';
import type { ImportJob } from './audience/import/import-job.ts';
import type { ImportPreview } from './audience/import/preview.ts';
import { countImport, Turns } from './audience/import/turns.ts';
import { ImportJobs, removeAbandonedUploads } from './audience/import/uploads.ts';
import type { ExportJob, ReadExport } from './audience/migrate/read-export.ts';
import { finishErasures } from './audience/person/erase.ts';
import { finishInterruptedWrites } from './audience/unfinished-writes.ts';
import { continueFromCopy, isCopy } from './backups/copies.ts';
import { removeUnfinished } from './backups/files.ts';
import { putWaitingInPlace } from './backups/put-in-place.ts';
import { type Config, localOrigin } from './config.ts';
import { FIRST_ACCOUNT, firstKeys, firstKeysShown, type KeyPair } from './database/accounts.ts';
import { connect, type Db, lockForServer, migrateAndSeed } from './database/open.ts';
import { WriteLock } from './database/write-lock.ts';
import { amazonDownload } from './delivery/feedback/providers/amazon-download.ts';
import { publicAddress } from './delivery/links/public-address.ts';
import { openTokens } from './delivery/links/tokens.ts';
import { courierInUse, linksFault } from './delivery/transport/relays/in-use.ts';
import { parseRelays } from './delivery/transport/smtp/relay-urls.ts';
import type { Said } from './errors/sentences.ts';
import { dnsResolver } from './health-checks/dns.ts';
import { closeWithin } from './http/connections.ts';
import { logOptions } from './http/server-options.ts';
import { removeUnfinishedPictures } from './pictures/pictures.ts';
import { type ThreadName, threadFile } from './thread-files.ts';
import { FeedbackThread } from './threads/feedback.ts';
import type { ImportMessage } from './threads/import-message.ts';
import { KeptThread } from './threads/kept-thread.ts';
import { WebhookThread } from './threads/webhooks.ts';
import { systemClock } from './time/clock.ts';
import { COMMAND_LINE } from './users/audit.ts';
import { createLoginLink, loginLinkPath } from './users/login-links.ts';
import { hasOwner } from './users/users.ts';

interface Server {
  /** The address below which the API's paths are. */
  apiUrl: string;
  /** The new key pair of a first start, to be shown once. */
  keys: KeyPair | null;
  /** The address of the page that makes the first owner, at a first start; null later. */
  welcomeUrl: string | null;
  /** Where campaign mail goes. */
  courier: ReturnType<typeof courierInUse>;
  /** Why nothing may be sent with these settings; null where all is well. */
  linksFault: Said | null;
  /** Whether somebody can sign in to the first account. */
  hasOwner: boolean;
  /** To be called when they were shown; if it is not, the next start makes and gives another pair. */
  keysShown(): Promise<void>;
  /** Resolves when somebody asks for a restart: then to be closed and started again. */
  restart: Promise<void>;
  close(): Promise<void>;
}

/** Limits the memory for new objects in each thread: rows and mails live for one batch only, so that more of it saves no time. */
const LIMITS = { maxYoungGenerationSizeMb: 6 };
/** The time after SHUTDOWN_SECONDS in which results of the last mails are recorded; then the process ends, whatever still hangs. */
const LAST_WRITES_MS = 1000;
/** How long the note that the first keys were shown waits for the write lock. */
const KEYS_SHOWN_MS = 5000;

/**
 * Opens the database, migrates it and starts the service. When it cannot start it throws an Error of one line and leaves nothing open,
 * so that the process ends and the next start finds everything free.
 */
export async function serve(config: Config): Promise<Server> {
  if (config.SMTP_URL !== '') parseRelays(config.SMTP_URL);
  /** How to close what has been opened, in the order of opening. */
  const opened: (() => unknown)[] = [];
  const closeAll = async () => {
    for (const close of opened.reverse()) await close();
  };
  try {
    const lock = lockForServer(config.DATABASE_PATH);
    opened.push(() => lock.release());
    const put = putWaitingInPlace(config.DATABASE_PATH, systemClock.now());
    if (put !== null)
      console.error('refused' in put ? put.refused : `A backup was restored. What it replaced: ${put.kept}`);
    removeUnfinished(config.DATABASE_PATH);
    const db = connect(config.DATABASE_PATH);
    opened.push(() => db.$client.close());
    migrateAndSeed(db);
    // The database was replaced by a backup without `sendlark restore`.
    if (isCopy(db.$client)) continueFromCopy(db.$client, new Map());
    removeAbandonedUploads(config.DATABASE_PATH);
    removeUnfinishedPictures(db);
    await finishInterruptedWrites(db);
    await finishErasures(db.$client);
    return await serveFrom(db, config, opened, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function serveFrom(
  db: Db,
  config: Config,
  opened: (() => unknown)[],
  closeAll: () => Promise<void>,
): Promise<Server> {
  let origin = '';
  const publicUrl = () => publicAddress(db.$client, config).url || origin;
  const importer = importThread();
  const { promise: restart, resolve: askForRestart } = Promise.withResolvers<void>();
  const writes = new WriteLock(db.$client);
  const tokens = openTokens(db.$client);
  opened.push(() => importer.close());
  let feedback: FeedbackThread | null = null;
  if (config.NATS_URL.length > 0) {
    (await import('./nodes/connection.ts')).checkNatsFiles(config);
    const log = (fields: object, text: string, isWarning: boolean) =>
      app.log[isWarning ? 'warn' : 'info'](fields, text);
    feedback = new FeedbackThread({ config, origin: () => origin, resourceLimits: LIMITS, log });
    opened.push(() => feedback?.close(LAST_WRITES_MS));
  }
  const app = await buildApp(
    {
      db,
      lock: writes,
      config,
      clock: systemClock,
      tokens,
      publicUrl,
      wake: () => background.wake(),
      wakeWebhooks: () => webhooks.wake(),
      resolver: () => dnsResolver(),
      fetchFromAmazon: amazonDownload(),
      importer,
      imports: new ImportJobs(importer, (error, text) => app.log.error({ err: error }, text)),
      restart: askForRestart,
      ...(feedback && { keepChoice: feedback.keepChoice }),
    },
    logOptions(config),
  );
  const webhooks = new WebhookThread(db, config, LIMITS, (fields, text) => app.log.info(fields, text));
  const keptThread = (name: string, file: ThreadName) =>
    new KeptThread({ name, file, client: db.$client, writes, config, resourceLimits: LIMITS, log: app.log });
  const background = keptThread('background', 'background-thread');
  const node = keptThread('node', 'node-thread');
  opened.push(async () => {
    // Open requests may take long; no new mail may start meanwhile.
    const graceMs = config.SHUTDOWN_SECONDS * 1000;
    const stopping = [background, node].map((thread) => thread.close(graceMs + LAST_WRITES_MS));
    await Promise.race([
      Promise.all([closeWithin(app, graceMs), webhooks.close(graceMs), ...stopping]),
      setTimeout(graceMs + LAST_WRITES_MS, null, { ref: false }),
    ]);
    await Promise.all(stopping);
  });
  await app.ready();
  collectGarbage();
  origin = await listen(app, config);
  feedback?.start();
  const keys = firstKeys(db, systemClock, config.PUBLIC_KEY !== '');
  const welcomeUrl = keys === null ? null : firstWelcome(db, publicUrl());
  background.start(origin);
  if (config.NATS_URL.length > 0 && config.SENDER_NODE === 'on') node.start(origin);
  webhooks.wake();

  return {
    apiUrl: `${origin}/api`,
    keys,
    welcomeUrl,
    courier: courierInUse(db.$client, config),
    linksFault: linksFault(db.$client, config),
    hasOwner: hasOwner(db, FIRST_ACCOUNT),
    keysShown: () => writes.write(() => firstKeysShown(db), KEYS_SHOWN_MS),
    restart,
    close: closeAll,
  };
}

/**
 * Collects what only the start needed. It takes 25 ms, as long as nobody is served. V8 then goes on by itself when the service rests, in
 * pauses of a few milliseconds, and gives 7 MB back to the system; without a first collection it never does.
 */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  collect();
}

function firstWelcome(db: Db, publicUrl: string): string {
  const link = { accountId: FIRST_ACCOUNT, user: null };
  return publicUrl + loginLinkPath(createLoginLink(db, link, COMMAND_LINE, systemClock.now()).secret);
}

/** Gives the origin listened on. Throws an Error of one line that names the setting at fault, BOUNCE_LISTEN's too. */
async function listen(app: FastifyInstance, { HOST, PORT, BOUNCE_LISTEN }: Config): Promise<string> {
  const at = { host: HOST, port: PORT };
  await app.listen(at).catch((error: unknown) => {
    throw listenFault(error, at, { host: 'HOST', port: 'PORT' });
  });
  if (BOUNCE_LISTEN !== null) await assertFree(BOUNCE_LISTEN);
  const address = app.server.address() as AddressInfo;
  return localOrigin(HOST, address.port);
}

/** Throws when BOUNCE_LISTEN is taken: the background thread listens there later, when it is too late to refuse the start. */
async function assertFree(at: { host: string; port: number }): Promise<void> {
  const probe = createServer();
  try {
    probe.listen(at);
    await once(probe, 'listening');
    probe.close();
    await once(probe, 'close');
  } catch (error) {
    throw listenFault(error, at, { host: 'BOUNCE_LISTEN', port: 'BOUNCE_LISTEN' });
  }
}

/** The Error for an address that cannot be listened on; `names` are the settings it comes from. */
function listenFault(
  error: unknown,
  { host, port }: { host: string; port: number },
  names: { host: string; port: string },
): Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const where = `port ${port} of ${host}`;
  if (code === 'EADDRINUSE') return new Error(`${names.port}: another program listens on ${where}`);
  if (code === 'EACCES') return new Error(`${names.port}: this user may not listen on ${where}`);
  if (code === 'EADDRNOTAVAIL') return new Error(`${names.host}: ${host} is not an address of this machine`);
  if (/^(ENOTFOUND|EAI_)/.test(code)) return new Error(`${names.host}: the name ${host} leads to no address`);
  return new Error(`${names.host}: ${where} cannot be listened on: ${error instanceof Error ? error.message : error}`);
}

/** Runs imports and previews of them, one at a time, in a thread that starts with the first one. */
function importThread() {
  let thread: Worker | null = null;
  const turns = new Turns();
  const ask = async <Result>(message: ImportMessage): Promise<Result> => {
    thread ??= new Worker(threadFile('import-thread'), {
      resourceLimits: LIMITS,
    });
    const worker = thread;
    worker.postMessage(message);
    const waiting = new AbortController();
    const { signal } = waiting;
    try {
      const [answer]: { result?: Result; error?: string }[] = await Promise.race([
        once(worker, 'message', { signal }),
        once(worker, 'exit', { signal }).then(() => [{ error: 'the import thread ended' }]),
      ]);
      if (answer?.result === undefined) throw new Error(answer?.error ?? 'the import gave no answer');
      return answer.result;
    } catch (error) {
      thread = null;
      throw error;
    } finally {
      waiting.abort();
    }
  };
  return {
    run: (job: ImportJob) =>
      turns.run(job.accountId, () => countImport(() => ask<ImportReport>({ task: 'import', job }))),
    preview: (job: ImportJob) => turns.run(job.accountId, () => ask<ImportPreview>({ task: 'preview', job })),
    read: (job: ExportJob) =>
      turns.run(job.accountId, () => ask<ReadExport | { refusal: string }>({ task: 'read', job })),
    async close(): Promise<void> {
      await thread?.terminate();
    },
  };
}
