/** Runs the service: database, HTTP, background and import threads; stops them in order. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { FastifyInstance } from 'fastify';
import { buildApp, logOptions } from './app.ts';
import type { ImportJob, ImportReport } from './audience/import.ts';
import { removeLeftUploads } from './audience/uploads.ts';
import { systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { createAccount, createKeys, type KeyPair } from './database/accounts.ts';
import { connect, type Db, lockForServer, migrateAndSeed } from './database/open.ts';
import { accounts } from './database/schema.ts';
import { parseRelays } from './delivery/smtp/relay.ts';
import { createTokens, tokenSecrets } from './delivery/tokens.ts';

export interface Server {
  /** `{base_url}` of the interface. */
  apiUrl: string;
  /** The fresh pair of a first start, to be shown once. */
  keys: KeyPair | null;
  close(): Promise<void>;
}

const RESTART_MS = 1000;
/** Rows live as long as their batch: more room for young objects is memory, not speed. */
const IMPORT_YOUNG_MB = 6;

/** Opens the file, brings it up to date, serves. Throws an Error of one line when something stands in the way. */
export async function serve(config: Config): Promise<Server> {
  if (config.SMTP_URL !== '') parseRelays(config.SMTP_URL);
  const lock = lockForServer(config.DATABASE_PATH);
  const db = connect(config.DATABASE_PATH);
  migrateAndSeed(db);
  removeLeftUploads(config.DATABASE_PATH);
  const keys = firstAccount(db, config);
  let publicUrl = config.PUBLIC_URL;
  const threads = new Map<string, Worker>();
  const importer = importThread();
  const app = await buildApp(
    {
      db,
      config,
      clock: systemClock,
      tokens: createTokens(tokenSecrets(db.$client)),
      publicUrl: () => publicUrl,
      wake: () => threads.get('background')?.postMessage('wake'),
      importContacts: importer.run,
    },
    logOptions(config),
  );
  const origin = await listen(app, config);
  publicUrl ||= origin;
  let isClosing = false;
  const startBackground = () => {
    const thread = new Worker(new URL('./background-thread.js', import.meta.url), {
      workerData: { config, publicUrl },
    });
    threads.set('background', thread);
    thread.on('message', ({ fields, text }) => app.log.info(fields, text));
    thread.on('error', (error) => app.log.error({ err: error }, 'the background thread failed and starts again'));
    thread.on('exit', () => {
      setTimeout(() => {
        if (!isClosing) startBackground();
      }, RESTART_MS).unref();
    });
  };
  startBackground();

  return {
    apiUrl: `${origin}/api`,
    keys,
    async close() {
      isClosing = true;
      const background = threads.get('background');
      background?.postMessage('stop');
      // Requests under way may take long: meanwhile no mail begins.
      const isRunning = background !== undefined && background.threadId !== -1;
      await Promise.all([app.close(), isRunning && new Promise((resolve) => background.once('exit', resolve))]);
      await importer.close();
      db.$client.close();
      lock.release();
    },
  };
}

async function listen(app: FastifyInstance, { HOST, PORT }: Config): Promise<string> {
  await app.listen({ host: HOST, port: PORT });
  const address = app.server.address() as AddressInfo;
  const host = HOST === '0.0.0.0' || HOST === '::' ? 'localhost' : HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

function firstAccount(db: Db, config: Config): KeyPair | null {
  if (db.select().from(accounts).limit(1).get() !== undefined) return null;
  const userId = createAccount(db, systemClock, 'Main');
  return config.PUBLIC_KEY === '' ? createKeys(db, systemClock, userId) : null;
}

/** Runs imports one after the other in a thread of its own, started at first use. */
function importThread() {
  let thread: Worker | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const runNow = async (job: ImportJob): Promise<ImportReport> => {
    thread ??= new Worker(new URL('./import-thread.js', import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: IMPORT_YOUNG_MB },
    });
    const worker = thread;
    worker.postMessage(job);
    const waiting = new AbortController();
    const { signal } = waiting;
    try {
      const [answer]: { report?: ImportReport; error?: string }[] = await Promise.race([
        once(worker, 'message', { signal }),
        once(worker, 'exit', { signal }).then(() => [{ error: 'the import thread ended' }]),
      ]);
      if (answer?.report === undefined) throw new Error(answer?.error ?? 'the import gave no answer');
      return answer.report;
    } catch (error) {
      thread = null;
      throw error;
    } finally {
      waiting.abort();
    }
  };
  return {
    run(job: ImportJob): Promise<ImportReport> {
      const result = last.then(() => runNow(job));
      last = result.catch(() => undefined);
      return result;
    },
    async close(): Promise<void> {
      await thread?.terminate();
    },
  };
}
