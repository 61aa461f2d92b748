/** Accepts a transactional mail: it is on disk and in the queue when the request is answered. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { addressId, findAddressId } from '../audience/contacts/address-rows.ts';
import { type Address, asciiAddress, domainOf } from '../audience/contacts/addresses.ts';
import type { Config } from '../config.ts';
import { readMailRule } from '../database/accounts.ts';
import type { Db } from '../database/open.ts';
import { type Attachment, DELIVERY_STATE, type senders } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import type { WriteLock } from '../database/write-lock.ts';
import { languageOfAddress } from '../delivery/content/values.ts';
import { attachmentOf, decodePieces, type GivenFile, MAX_ATTACHMENTS } from '../delivery/mime/attachments.ts';
import { holdFor } from '../delivery/queue/holds.ts';
import { addMail } from '../delivery/transactional/ledger.ts';
import { hasRelay, isUnverified } from '../delivery/transport/relays/in-use.ts';
import { conflict, Failure, invalid } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import type { Clock } from '../time/clock.ts';
import { MEBIBYTE } from '../units.ts';
import { type CompiledTemplates, type ContentInput, composeMail, contentMissing } from './content.ts';

interface MailInput extends Omit<ContentInput, 'language'> {
  address: Address;
  files: readonly GivenFile[];
  /** The language that the request names, as an ISO 639-1 code; empty: the contact's language is used. */
  requestedLanguage: string;
  /** The header Idempotency-Key; null if the request has none. */
  key: string | null;
}

/** What the header Idempotency-Key may be: 1 to 255 printable characters of ASCII, without a space at either end. */
export const IDEMPOTENCY_KEY = /^[!-~](?:[ -~]{0,253}[!-~])?$/;
/** The maximum number of waiting mails of an account. */
const MAX_WAITING = 10_000;
/** The maximum size of the waiting mails of an account together. */
const MAX_WAITING_BYTES = 1024 * MEBIBYTE;
const MAX_ATTACHMENT_BYTES = 10 * MEBIBYTE;
/** How long a write waits for the lock. */
const LOCK_WAIT_MS = 10_000;
/** The number of bytes that are hashed at a time. */
const HASHED_BYTES = MEBIBYTE;

interface SendDeps {
  db: Db;
  lock: WriteLock;
  config: Config;
  clock: Clock;
  /** Tells the background thread that there is work. */
  wake(): void;
}

/**
 * Adds the mail to the queue and returns its utr. A request with the same key and content as one of the last day returns the
 * utr of the earlier mail and adds nothing. Throws 409 for a key of another request and for problems that the owner must fix first, 422
 * for faults of the request, and 429 if too many mails of the account wait.
 */
export async function sendTransactional(
  deps: SendDeps,
  templates: CompiledTemplates,
  accountId: number,
  input: MailInput,
  sender: typeof senders.$inferSelect,
): Promise<string> {
  const { db, lock, config, clock, wake } = deps;
  const client = db.$client;
  const { key, files } = input;
  if (key !== null && !IDEMPOTENCY_KEY.test(key)) throw invalid('idempotency_key', sentence('key_wrong'));
  const hash = key === null ? '' : await requestHash(input, sender.id);
  const earlier = findEarlier(client, accountId, key, hash);
  if (earlier !== null) return earlier;
  if (config.NATS_URL.length > 0 && !hasRelay(client, config)) throw conflict(sentence('transactional_no_relay'));
  if (isUnverified(client, config, sender)) throw conflict(holdFor('sender_unverified').held_reason);
  const attachments = listAttachments(files);
  if (!input.template_id && !input.template_json && !input.template_html && !input.text) throw contentMissing();
  const language = input.requestedLanguage || languageOf(db, accountId, input.address);
  const { subject, bodies } = await composeMail(deps, templates, accountId, { ...input, language }, sender);
  const content = JSON.stringify(bodies);
  const size = attachments.reduce((sum, attachment) => sum + attachment.size, Buffer.byteLength(content));
  checkRoom(client, accountId, size);
  const utr = randomUUID();
  try {
    await writePieces(deps, utr, files, attachments);
    const sent = await lock.write(
      () =>
        inTransaction(db, () => {
          const meanwhile = findEarlier(client, accountId, key, hash);
          if (meanwhile !== null) return meanwhile;
          checkRoom(client, accountId, size);
          addMail(client, {
            utr,
            user_id: accountId,
            sender_id: sender.id,
            address_id: addressId(db, accountId, input.address),
            email: input.address.address,
            name: input.name,
            subject,
            content,
            attachments,
            size,
            message_key: randomBytes(9).toString('hex'),
            message_domain: domainOf(asciiAddress(sender.from_email) ?? ''),
            idempotency_key: key,
            request_hash: hash,
            created_at: clock.now().getTime(),
          });
          return utr;
        }),
      LOCK_WAIT_MS,
    );
    if (sent !== utr) await removePieces(deps, utr, attachments);
    wake();
    return sent;
  } catch (error) {
    await removePieces(deps, utr, attachments);
    throw error;
  }
}

/** Returns the language of the contact with this address, else the account's language, as an ISO 639-1 code. */
function languageOf(db: Db, accountId: number, address: Address): string {
  const known = findAddressId(db.$client, accountId, address);
  const own = known === undefined ? null : languageOfAddress(db.$client, accountId, known);
  return own ?? readMailRule(db, accountId, 'mail_language');
}

/** Returns the utr of the mail that was sent with this key; null if there is none. Throws 409 if that mail's request was another. */
function findEarlier(client: Database, accountId: number, key: string | null, hash: string): string | null {
  if (key === null) return null;
  const earlier = client
    .prepare<[number, string], { utr: string; request_hash: string }>(
      'SELECT utr, request_hash FROM transactional_mails WHERE user_id = ? AND idempotency_key = ?',
    )
    .get(accountId, key);
  if (earlier === undefined) return null;
  if (earlier.request_hash !== hash) throw conflict(sentence('key_used'));
  return earlier.utr;
}

/** Returns the hash of everything that determines the mail. The order of the keys in `data` does not matter. */
async function requestHash(input: MailInput, senderId: number): Promise<string> {
  const { files, address, data, subject, preheader, template_id, template_json, template_html, text, name } = input;
  const hash = createHash('sha256');
  const values = Object.entries(data).sort(([one], [other]) => (one < other ? -1 : 1));
  const attachments = files.map(({ name, type, base64 }) => [name, type, base64.length]);
  const parts = [subject, preheader, template_id ?? 0, template_json, template_html, text, name];
  if (input.requestedLanguage !== '') parts.push(input.requestedLanguage);
  hash.update(JSON.stringify([senderId, address.address, parts, values, attachments]));
  for (const { base64 } of files) {
    for (let at = 0; at < base64.length; at += HASHED_BYTES) {
      hash.update(base64.subarray(at, at + HASHED_BYTES));
      await setImmediate();
    }
  }
  return hash.digest('base64');
}

/** Returns the attachments of these files. Throws 422 if there are too many, or if they are too large. */
function listAttachments(files: readonly GivenFile[]): Attachment[] {
  if (files.length > MAX_ATTACHMENTS)
    throw invalid('attachments', sentence('attachments_many', { count: MAX_ATTACHMENTS }));
  const attachments = files.map(attachmentOf);
  if (attachments.reduce((sum, { size }) => sum + size, 0) > MAX_ATTACHMENT_BYTES)
    throw invalid('attachments', sentence('attachments_large', { size: MAX_ATTACHMENT_BYTES / MEBIBYTE }));
  return attachments;
}

/** Throws 429 if too many mails or bytes of the account wait. */
function checkRoom(client: Database, accountId: number, size: number): void {
  const waiting = client
    .prepare<[number], { mails: number; bytes: number }>(`
     SELECT count(*) AS mails, ifnull(sum(size), 0) AS bytes FROM transactional_mails INDEXED BY transactional_mails_queue
     WHERE user_id = ? AND state = ${DELIVERY_STATE.queued}`)
    .get(accountId);
  if ((waiting?.mails ?? 0) >= MAX_WAITING || (waiting?.bytes ?? 0) + size > MAX_WAITING_BYTES)
    throw new Failure(429, sentence('transactional_waiting'));
}

/**
 * Writes the bytes of attachments, each piece in its own transaction, so that other requests are answered in between.
 */
async function writePieces(
  { db: { $client: client }, lock }: SendDeps,
  utr: string,
  files: readonly GivenFile[],
  attachments: readonly Attachment[],
): Promise<void> {
  const insert = client.prepare(
    'INSERT INTO transactional_pieces (utr, attachment, number, bytes) VALUES (?, ?, ?, ?)',
  );
  for (const [at, file] of files.entries()) {
    const attachment = attachments[at];
    if (attachment === undefined) continue;
    let number = 0;
    for (const bytes of decodePieces(file, attachment, at)) {
      const piece = number++;
      await lock.write(() => insert.run(utr, at, piece, bytes), LOCK_WAIT_MS);
      await setImmediate();
    }
  }
}

/** Removes the pieces of a mail that is not sent. If that fails, the next start removes them. */
async function removePieces(
  { db: { $client: client }, lock }: SendDeps,
  utr: string,
  attachments: readonly Attachment[],
): Promise<void> {
  if (attachments.length === 0) return;
  const remove = client.prepare('DELETE FROM transactional_pieces WHERE utr = ?');
  await lock.write(() => remove.run(utr), LOCK_WAIT_MS).catch(() => undefined);
}

/** Removes the pieces of mails that a killed server had not added yet. Call it only at the start, before requests are accepted. */
export function removeUnfinishedPieces(client: Database): void {
  client.exec(
    'DELETE FROM transactional_pieces WHERE NOT EXISTS (SELECT 1 FROM transactional_mails m WHERE m.utr = transactional_pieces.utr)',
  );
}
