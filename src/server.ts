/** Runs the service: database, HTTP, background and import threads; stops them in order. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { buildApp } from './app.ts';
import { ImportJobs, removeAbandonedUploads } from './audience/import/uploads.ts';
import { finishErasures } from './audience/person/erase.ts';
import { finishInterruptedWrites } from './audience/unfinished-writes.ts';
import { removeUnfinishedCopies } from './automations/unfinished-copies.ts';
import { finishLargeWrites } from './campaigns/large-writes.ts';
import type { Config } from './config.ts';
import { FIRST_ACCOUNT, firstKeys, firstKeysShown, type KeyPair } from './database/accounts.ts';
import { databaseFault } from './database/faults.ts';
import { connect, type Db } from './database/open.ts';
import { lockForServer } from './database/server-lock.ts';
import { migrateAndSeed } from './database/upgrade.ts';
import { WriteLock } from './database/write-lock.ts';
import { HitBuffer } from './delivery/feedback/opens-and-clicks.ts';
import { amazonDownload } from './delivery/feedback/providers/amazon-download.ts';
import { findPublicUrl } from './delivery/links/public-url.ts';
import { openTokens } from './delivery/links/tokens.ts';
import { courierInUse, linksFault } from './delivery/transport/relays/in-use.ts';
import { parseRelays } from './delivery/transport/smtp/relay-urls.ts';
import type { Said } from './errors/sentences.ts';
import { closeWithin } from './http/connections.ts';
import { localOrigin } from './http/local-origin.ts';
import { logOptions } from './http/server-options.ts';
import { removeUnfinished } from './installation/backups/files.ts';
import { putWaitingInPlace } from './installation/backups/put-in-place.ts';
import { continueFromCopy, isCopy } from './installation/backups/restored-copy.ts';
import { dnsResolver } from './installation/health-checks/domain-authentication.ts';
import { type Log, processLog } from './log.ts';
import { removeUnfinishedPictures } from './templates/pictures/pictures.ts';
import type { ThreadName } from './thread-files.ts';
import { FeedbackThread } from './threads/feedback.ts';
import { importThread } from './threads/imports.ts';
import { KeptThread } from './threads/kept-thread.ts';
import { WebhookThread } from './threads/webhooks.ts';
import { systemClock } from './time/clock.ts';
import { removeUnfinishedPieces } from './transactional/send.ts';
import { COMMAND_LINE } from './users/audit.ts';
import { createLoginLink, loginLinkPath } from './users/login-links.ts';
import { hasOwner } from './users/users.ts';

export interface Server {
  /** The URL below which the API's paths are. */
  apiUrl: string;
  /** The new key pair of a first start, to be shown once. */
  keys: KeyPair | null;
  /** On a first start, the URL of the page that creates the first owner; null later. */
  welcomeUrl: string | null;
  /** The destination of campaign mail. */
  courier: ReturnType<typeof courierInUse>;
  /** Why sending is not allowed with these settings; null if they are fine. */
  linksFault: Said | null;
  /** True if a user can sign in to the first account. */
  hasOwner: boolean;
  /** Call it when the keys have been shown. If it is not called, the next start creates another pair. */
  keysShown(): Promise<void>;
  /** Resolves when a restart is requested: the caller then closes the service and starts it again. */
  restart: Promise<void>;
  close(): Promise<void>;
}

/** Limits the memory for new objects in each thread: rows and mails live for one batch only, so more memory saves no time. */
const LIMITS = { maxYoungGenerationSizeMb: 6 };
/** How long a thread stays idle before it asks to rest: if started without a write, and after a write. */
const RESTS_AFTER_MS = { quiet: 5000, written: 60_000 };
/**
 * The time after SHUTDOWN_SECONDS in which results of the last mails are recorded; then the process ends, even if something still hangs.
 */
const LAST_WRITES_MS = 1000;
/** How long recording that the first keys were shown waits for the write lock. */
const KEYS_SHOWN_MS = 5000;

/**
 * Opens the database, migrates it and starts the service. If the service cannot start, throws a one-line Error and leaves nothing open, so
 * that the process ends and the next start is not blocked.
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
      processLog(config)(
        {},
        'refused' in put ? put.refused : `A backup was restored. What it replaced: ${put.kept}`,
        'refused' in put ? 'error' : 'info',
      );
    removeUnfinished(config.DATABASE_PATH);
    const db = connect(config.DATABASE_PATH);
    opened.push(() => db.$client.close());
    // A first start has just made the file, and a restore has put another one in its place.
    lock.holdFile();
    migrateAndSeed(db);
    // The database was replaced by a backup without `sendlark restore`.
    if (isCopy(db.$client)) continueFromCopy(db.$client, new Map());
    removeAbandonedUploads(config.DATABASE_PATH);
    removeUnfinishedPictures(db);
    await removeUnfinishedCopies(db, processLog(config));
    removeUnfinishedPieces(db.$client);
    await finishInterruptedWrites(db);
    await finishLargeWrites(db);
    await finishErasures(db.$client);
    return await serveFrom(db, config, opened, closeAll);
  } catch (error) {
    await closeAll();
    throw databaseFault(error, config.DATABASE_PATH);
  }
}

async function serveFrom(
  db: Db,
  config: Config,
  opened: (() => unknown)[],
  closeAll: () => Promise<void>,
): Promise<Server> {
  let origin = '';
  const publicUrl = () => findPublicUrl(db.$client, config).url || origin;
  const importer = importThread(LIMITS);
  const { promise: restart, resolve: askForRestart } = Promise.withResolvers<void>();
  const writes = new WriteLock(db.$client);
  const tokens = openTokens(db.$client);
  opened.push(() => importer.close());
  const log: Log = (fields, text, level = 'info') => app.log[level](fields, text);
  let feedback: FeedbackThread | null = null;
  if (config.NATS_URL.length > 0) {
    (await import('./nodes/connection.ts')).checkNatsFiles(config);
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
      hits: new HitBuffer(db.$client),
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
  const webhooks = new WebhookThread(db, config, LIMITS, log);
  const limits = { resourceLimits: LIMITS, restsAfterMs: RESTS_AFTER_MS };
  const keptThread = (name: string, file: ThreadName) =>
    new KeptThread({ name, file, client: db.$client, writes, config, ...limits, log: app.log });
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

function firstWelcome(db: Db, publicUrl: string): string {
  const link = { accountId: FIRST_ACCOUNT, user: null };
  return publicUrl + loginLinkPath(createLoginLink(db, link, COMMAND_LINE, systemClock.now()).secret);
}

/** Starts listening. Returns the origin. Throws a one-line Error that names the faulty setting, which may also be BOUNCE_LISTEN. */
async function listen(app: FastifyInstance, { HOST, PORT, BOUNCE_LISTEN }: Config): Promise<string> {
  const at = { host: HOST, port: PORT };
  const { level } = app.log;
  // Without Fastify's own line about the address, because the caller prints the address.
  app.log.level = 'warn';
  await app.listen(at).catch((error: unknown) => {
    throw listenFault(error, at, { host: 'HOST', port: 'PORT' });
  });
  app.log.level = level;
  if (BOUNCE_LISTEN !== null) await assertFree(BOUNCE_LISTEN);
  const address = app.server.address() as AddressInfo;
  return localOrigin(HOST, address.port);
}

/** Throws if BOUNCE_LISTEN is in use: the background thread listens there later, when it is too late to fail the startup. */
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

/** The Error for a host and port that cannot be listened on; `names` are the settings they come from. */
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
