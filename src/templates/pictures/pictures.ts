/** The pictures of an account: how they are stored, listed for the designer, and read. */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { and, desc, eq, sql } from 'drizzle-orm';
import { newPictureId } from '../../database/functions/picture-ids.ts';
import type { Db } from '../../database/open.ts';
import { pictureParts, pictures } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import type { WriteLock } from '../../database/write-lock.ts';
import { announceWrite, endWrite } from '../../database/write-turns.ts';
import { conflict, invalid } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { MEBIBYTE } from '../../units.ts';
import { readPicture } from './read-picture.ts';

/** The maximum size of one picture. */
export const MAX_PICTURE_BYTES = 5 * MEBIBYTE;
/** The maximum size of all pictures of an account. */
export const MAX_ACCOUNT_BYTES = 500 * MEBIBYTE;
/** The maximum number of pictures of an account. */
const MAX_PICTURES = 10_000;

/**
 * The maximum size of a part of a picture. Writing or reading a part takes a few milliseconds at most, and other requests are answered
 * between two parts.
 */
const PART_BYTES = 128 * 1024;
/** How long one write waits for the write lock. */
const LOCK_WAIT_MS = 1500;
/** The maximum number of pictures that the designer offers. */
const MAX_OFFERED = 200;
const MAX_NAME_CHARACTERS = 255;
const MAX_FILE_NAME_CHARACTERS = 60;

interface PictureDeps {
  db: Db;
  lock: WriteLock;
  clock: Clock;
}

/** An uploaded file. */
interface UploadedPicture {
  bytes: Buffer;
  /** The name of the file. It becomes the name of the picture if `name` is absent. */
  fileName: string;
  name?: string | undefined;
  alt?: string | undefined;
}

/**
 * Stores a picture. If the account has a picture with the same bytes already, returns the id of the stored picture, and false in `isNew`.
 * Throws 422 if the bytes are not an accepted picture, and 409 if the account has no room for the picture.
 */
export async function storePicture(
  { db, lock, clock }: PictureDeps,
  accountId: number,
  { bytes, fileName, name, alt = '' }: UploadedPicture,
): Promise<{ id: number; isNew: boolean }> {
  const facts = readPicture(bytes);
  if ('problem' in facts) throw invalid('file', facts.problem);
  const hash = await sha256(bytes);
  const known = findByHash(db, accountId, hash);
  if (known !== undefined) return { id: known.id, isNew: false };
  requireRoom(db, accountId, bytes.length);
  const public_id = newPictureId();
  const write = async <T>(work: () => T): Promise<T> => {
    announceWrite();
    try {
      return await lock.write(work, LOCK_WAIT_MS);
    } finally {
      endWrite();
    }
  };
  const removeParts = () => db.delete(pictureParts).where(eq(pictureParts.public_id, public_id)).run();
  try {
    for (let at = 0, number = 0; at < bytes.length; at += PART_BYTES, number++) {
      const part = bytes.subarray(at, at + PART_BYTES);
      await write(() => db.insert(pictureParts).values({ public_id, number, bytes: part }).run());
      await setImmediate();
    }
    const title = name || titleOf(fileName);
    const now = isoTimestamp(clock.now());
    const add = () => {
      // Another request may have stored the same picture, or others, while the parts were written.
      const stored = findByHash(db, accountId, hash);
      if (stored !== undefined) {
        removeParts();
        return { id: stored.id, isNew: false };
      }
      requireRoom(db, accountId, bytes.length);
      const file_name = `${slugOf(title)}.${facts.kind === 'jpeg' ? 'jpg' : facts.kind}`;
      const { id } = db
        .insert(pictures)
        .values({
          user_id: accountId,
          public_id,
          hash,
          ...facts,
          size: bytes.length,
          file_name,
          name: title,
          alt,
          created_at: now,
          updated_at: now,
        })
        .returning({ id: pictures.id })
        .get();
      return { id, isNew: true };
    };
    return await write(() => inTransaction(db, add));
  } catch (error) {
    await write(removeParts);
    throw error;
  }
}

/** A picture as the designer offers it. */
export interface OfferedPicture {
  /** The path of the picture below the public URL. */
  path: string;
  name: string;
  alt: string;
  width: number;
  height: number;
}

/** Returns the newest pictures of an account; with `id`, only the picture with that id. */
export function offeredPictures(db: Db, accountId: number, id?: number): OfferedPicture[] {
  return db
    .select({
      path: sql<string>`'/pictures/' || ${pictures.public_id} || '/' || ${pictures.file_name}`,
      name: pictures.name,
      alt: pictures.alt,
      width: pictures.width,
      height: pictures.height,
    })
    .from(pictures)
    .where(and(eq(pictures.user_id, accountId), id === undefined ? undefined : eq(pictures.id, id)))
    .orderBy(desc(pictures.id))
    .limit(MAX_OFFERED)
    .all();
}

/** Returns a function that reads one part of a stored picture, counted from 0; undefined if there is no such part. */
export function partReader(db: Db): (publicId: string, number: number) => Buffer | undefined {
  const part = db.$client
    .prepare<[string, number], Buffer>('SELECT bytes FROM picture_parts WHERE public_id = ? AND number = ?')
    .pluck();
  return (publicId, number) => part.get(publicId, number);
}

/**
 * Removes the parts of unfinished uploads that a killed server left, and returns the number of removed parts. Call this at the start,
 * before uploads are accepted.
 */
export function removeUnfinishedPictures(db: Db): number {
  const finished = db.select({ public_id: pictures.public_id }).from(pictures);
  return db.delete(pictureParts).where(sql`${pictureParts.public_id} NOT IN ${finished}`).run().changes;
}

function findByHash(db: Db, accountId: number, hash: string): { id: number } | undefined {
  return db
    .select({ id: pictures.id })
    .from(pictures)
    .where(and(eq(pictures.user_id, accountId), eq(pictures.hash, hash)))
    .get();
}

/** Throws 409 if an account has no room for another picture of this size. */
function requireRoom(db: Db, accountId: number, bytes: number): void {
  const { count, size } = db
    .select({ count: sql<number>`count(*)`, size: sql<number>`ifnull(sum(${pictures.size}), 0)` })
    .from(pictures)
    .where(eq(pictures.user_id, accountId))
    .all()[0] ?? { count: 0, size: 0 };
  if (count >= MAX_PICTURES) throw conflict(sentence('pictures_many', { count: MAX_PICTURES }));
  if (size + bytes > MAX_ACCOUNT_BYTES)
    throw conflict(sentence('pictures_full', { size: MAX_ACCOUNT_BYTES / MEBIBYTE }));
}

/** Returns the SHA-256 of a picture. Other requests are answered while it is computed. */
async function sha256(bytes: Buffer): Promise<string> {
  const hash = createHash('sha256');
  for (let at = 0; at < bytes.length; at += MEBIBYTE) {
    hash.update(bytes.subarray(at, at + MEBIBYTE));
    await setImmediate();
  }
  return hash.digest('hex');
}

/** Returns the name of a picture made from the name of its file: one line without the extension. */
function titleOf(fileName: string): string {
  const title = fileName
    .replace(/\.[a-z]{3,4}$/i, '')
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
  return title.slice(0, MAX_NAME_CHARACTERS) || 'picture';
}

/** Returns the name of a picture for its URL: words of ASCII letters and digits, with hyphens between the words. */
function slugOf(title: string): string {
  const words =
    title
      .normalize('NFKD')
      .replaceAll(/\p{M}+/gu, '')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return words.join('-').slice(0, MAX_FILE_NAME_CHARACTERS).replace(/-$/, '') || 'picture';
}
