/** The source of data for public pages that reads and writes the database of this process. */
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { isBusy } from '../database/write-lock.ts';
import { deliveryValues } from '../delivery/content/values.ts';
import { readShared } from '../delivery/links/shared-links.ts';
import { readFrozen } from '../delivery/queue/mailings.ts';
import { RecipientVariants } from '../delivery/variants/recipient-variants.ts';
import { unavailable } from '../errors/failure.ts';
import type { Deps } from '../operations/deps.ts';
import { partReader } from '../templates/pictures/pictures.ts';
import { HOUR_MS, MEBIBYTE } from '../units.ts';
import { BytesCache } from './bytes-cache.ts';
import { PreferenceStore } from './preferences.ts';
import type { RecipientSource, StoredPicture } from './recipient-source.ts';

/** How long a visitor waits for a choice to be written. After that, the visitor is asked to try again. */
const ANSWER_MS = 30_000;
/** How long a choice waits in memory until the database is no longer locked. */
const PENDING_MS = HOUR_MS;
/** The maximum number of choices waiting in memory while the database is locked. */
const MAX_PENDING = 10_000;
/** How often opens and clicks are written. */
const FLUSH_MS = 100;
/** The maximum size of the cache of image parts. */
const PICTURE_CACHE_BYTES = 32 * MEBIBYTE;

/** Returns the source of data for an application. Data that wait in memory are written before the application has closed. */
export function databaseSource(app: FastifyInstance, deps: Deps): RecipientSource {
  const { db, clock, tokens, hits, publicUrl, keepChoice } = deps;
  const client = db.$client;
  const store = new PreferenceStore(db);
  writeHits(app, deps);
  const write = lockedWrites(app, deps);
  const link = client
    .prepare<[number, number, number], string>(
      'SELECT ifnull(target, url) FROM links JOIN mailings m ON m.id = mailing_id WHERE mailing_id = ? AND number = ? AND m.user_id = ?',
    )
    .pluck();
  const variants = new RecipientVariants(client);
  const picture = client.prepare<[string], Omit<StoredPicture, 'part'>>(
    'SELECT hash, kind, size FROM pictures WHERE public_id = ?',
  );
  const readPart = partReader(db);
  const parts = new BytesCache(PICTURE_CACHE_BYTES);

  return {
    publicUrl,
    readLink: (purpose, token) => tokens.readRecipient(purpose, token),
    readShared: (token) => readShared(tokens, token),
    readPreferences: (ids) => store.read(ids),
    async keepChoice(ids, token, _before, choice) {
      // With sender nodes, the choice is stored in JetStream first, and the controller then writes it to this database.
      if (keepChoice) await keepChoice(token, ids, choice);
      else await write(() => store.apply(ids, choice, clock.now()));
      return store.read(ids);
    },
    readMail(ids) {
      const frozen = readFrozen(client, ids.mailing, ids.user);
      return frozen === undefined ? null : { frozen, variant: variants.number(ids) };
    },
    findLink: (ids, number) => link.get(ids.mailing, number, ids.user) ?? null,
    readValues: (ids) => ({ ...deliveryValues(db, ids), ...variants.findSender(ids) }),
    addHit: (hit) => hits.add(hit),
    findPicture(publicId) {
      const stored = picture.get(publicId);
      return stored === undefined
        ? null
        : { ...stored, part: (number) => parts.get(`${publicId}/${number}`, () => readPart(publicId, number)) };
    },
  };
}

/** Writes opens and clicks in batches until the application has closed. */
function writeHits(app: FastifyInstance, { hits, clock, lock, config }: Deps): void {
  let timer = globalThis.setTimeout(write, FLUSH_MS);
  app.addHook('onClose', async () => {
    clearTimeout(timer);
    const flush = () => hits.flush(clock.now().getTime());
    while (await lock.write(flush, config.SHUTDOWN_SECONDS * 1000));
  });

  /** Writes one batch. The next batch follows after other requests had their turn, or after FLUSH_MS if nothing is left to write. */
  function write(): void {
    let hasMore = false;
    try {
      hasMore = hits.flush(clock.now().getTime());
    } catch (error) {
      // If another connection holds the lock, the opens and clicks stay in memory until the next batch.
      if (!isBusy(error))
        app.log.warn({ err: error }, 'opens and clicks could not be written; they are kept in memory and tried again');
    }
    timer = globalThis.setTimeout(write, hasMore ? 0 : FLUSH_MS);
  }
}

/** Returns a function that runs a write when the lock is free. It throws 503 if that takes too long, but still writes later. */
function lockedWrites(app: FastifyInstance, { lock, config }: Deps): (write: () => void) => Promise<void> {
  const pending = new Set<Promise<unknown>>();
  app.addHook('onClose', () =>
    Promise.race([Promise.allSettled(pending), setTimeout(config.SHUTDOWN_SECONDS * 1000, null, { ref: false })]),
  );
  return async (write) => {
    if (pending.size >= MAX_PENDING) throw unavailable();
    const written = lock.write(write, PENDING_MS);
    const finished = written.then(
      () => undefined,
      (error) => app.log.error({ err: error }, 'a choice on the preference page could not be written'),
    );
    pending.add(finished);
    void finished.then(() => pending.delete(finished));
    const answered = new AbortController();
    const timeout = setTimeout(ANSWER_MS, null, { signal: answered.signal, ref: false }).then(() => {
      throw unavailable();
    });
    try {
      await Promise.race([written, timeout]);
    } finally {
      timeout.catch(() => undefined);
      answered.abort();
    }
  };
}
