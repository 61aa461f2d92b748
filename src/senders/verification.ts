/** The verification of senders: its mails, its links, and the release of the campaigns that waited for it. */
import { eq, inArray } from 'drizzle-orm';
import { addressId } from '../audience/contacts/address-rows.ts';
import { parseAddress } from '../audience/contacts/addresses.ts';
import { releaseSendsOfSenders } from '../campaigns/status.ts';
import type { Db } from '../database/open.ts';
import { ownedBy } from '../database/ownership.ts';
import { DELIVERY_STATE, type HeldCode, senders } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import type { Tokens } from '../delivery/links/tokens.ts';
import { deliveryQueue } from '../delivery/queue/ledger/enqueue.ts';
import { createMailing, releaseMailingsOfSenders } from '../delivery/queue/mailing-state.ts';
import type { Said } from '../errors/sentences.ts';
import { readStored } from '../errors/stored.ts';
import type { LanguageCode } from '../languages.ts';
import { isoTimestamp, plainTimestamp } from '../time/clock.ts';
import { DAY_MS, MINUTE_MS } from '../units.ts';
import { audit } from '../users/audit.ts';
import { LINK_DAYS, verificationContent } from './verification-mail.ts';

type Sender = typeof senders.$inferSelect;

const PURPOSE = 'verify-sender';
/** The minimum time between two verification mails of an account to the same address. */
const RESEND_MS = 5 * MINUTE_MS;

/** The newest verification mail to an address, and the state of its delivery. */
interface Verification {
  /** ISO 8601 in UTC. */
  sent_at: string;
  held_code: HeldCode | null;
  held_reason: Said | null;
  state: number;
  attempts: number;
  /** The relay's reply, or why the mail was not sent. */
  reply: Said | null;
}

type StoredVerification = Omit<Verification, 'reply' | 'held_reason'> & Record<'reply' | 'held_reason', string | null>;

/** The columns of `StoredVerification`. */
const COLUMNS = 'm.created_at AS sent_at, m.held_code, m.held_reason, d.state, d.attempt AS attempts, d.reply';
/** SQL for the verification mails of senders `s` to addresses `a`. */
const VERIFICATIONS = `
  FROM senders s
    CROSS JOIN mailings m INDEXED BY mailings_verification ON m.owner_kind = 'system' AND m.owner_id = s.id
    CROSS JOIN deliveries d ON d.mailing_id = m.id
    CROSS JOIN addresses a ON a.id = d.address_id`;

/**
 * Returns the newest verification mail of the account to the address of this sender, whichever of the account's senders requested it;
 * undefined if no such mail was sent.
 */
export function findLastVerification(db: Db, sender: Sender): Verification | undefined {
  const row = db.$client
    .prepare<[number, string], StoredVerification>(`
      SELECT ${COLUMNS} ${VERIFICATIONS}
      WHERE s.user_id = ? AND a.normalized_email = ? ORDER BY m.id DESC LIMIT 1`)
    .get(sender.user_id, parseAddress(sender.from_email)?.normalized ?? '');
  return row && verificationOf(row);
}

/** Returns the newest verification mail of the account to each address that one of its senders has or had, by normalized e-mail. */
export function listLastVerifications(db: Db, accountId: number): Map<string, Verification> {
  const rows = db.$client
    .prepare<[number], StoredVerification & { normalized_email: string }>(`
      SELECT a.normalized_email, ${COLUMNS} ${VERIFICATIONS}
      WHERE s.user_id = ? ORDER BY m.id`)
    .all(accountId);
  return new Map(rows.map(({ normalized_email, ...verification }) => [normalized_email, verificationOf(verification)]));
}

function verificationOf(row: StoredVerification): Verification {
  return { ...row, reply: readStored(row.reply), held_reason: readStored(row.held_reason) };
}

/**
 * Returns when another verification mail may be sent to the address; null if it may be sent now. Another mail must wait some minutes
 * after the last one, and a day while the last one is still queued. A mail that was not sent because the address is unsubscribed or
 * suppressed does not count, and neither does a mail with a time in the future, which was sent while the clock was wrong.
 */
export function resendAllowedAt(last: Verification | undefined, now: Date): Date | null {
  if (last === undefined || last.state === DELIVERY_STATE.suppressed) return null;
  const sentAt = Date.parse(last.sent_at);
  const isWaiting = last.state === DELIVERY_STATE.queued || last.state === DELIVERY_STATE.sending;
  const allowedAt = sentAt + (isWaiting ? DAY_MS : RESEND_MS);
  return sentAt <= now.getTime() && now.getTime() < allowedAt ? new Date(allowedAt) : null;
}

/**
 * Queues the verification mail and sets `send_at`, unless the address got one a few minutes ago, so that Sendlark cannot be
 * used to flood a stranger's mailbox. Call inside the transaction of the change that requires the verification.
 */
export function sendVerification(
  deps: { db: Db; tokens: Tokens; publicUrl(): string },
  sender: Sender,
  language: LanguageCode,
  now: Date,
): void {
  const { db, tokens } = deps;
  const token = tokens.sign(
    PURPOSE,
    JSON.stringify([sender.id, sender.from_email, now.getTime() + LINK_DAYS * DAY_MS]),
  );
  const address = parseAddress(sender.from_email);
  if (address === null) throw new Error('a sender without a valid address');
  if (resendAllowedAt(findLastVerification(db, sender), now) !== null) return;
  const url = `${deps.publicUrl()}/verify/${token}`;
  const content = verificationContent(language, sender.from_email, url);
  const mailing_id = createMailing(db, {
    user_id: sender.user_id,
    owner_kind: 'system',
    owner_id: sender.id,
    content: JSON.stringify(content),
    created_at: isoTimestamp(now),
  });
  const address_id = addressId(db, sender.user_id, address);
  deliveryQueue(db.$client)({ mailing_id, address_id, contact_id: null, segment_recipient_id: null });
  db.update(senders)
    .set({ send_at: plainTimestamp(now) })
    .where(eq(senders.id, sender.id))
    .run();
}

/**
 * Returns the sender of a verification link; null if the link is forged or expired, or if the sender was deleted or has another
 * address now.
 */
export function findSenderByLink(db: Db, tokens: Tokens, token: string, now: Date): Sender | null {
  const text = tokens.read(PURPOSE, token);
  if (text === null) return null;
  const [id, email, until]: [number, string, number] = JSON.parse(text);
  const sender = db.select().from(senders).where(eq(senders.id, id)).get();
  if (sender === undefined || sender.deleted_at !== null || sender.from_email !== email || now.getTime() > until)
    return null;
  return sender;
}

/**
 * Marks a sender as verified, and the account's other senders with the same address, because they share the verification mail.
 * Then releases the single sends and mailings that waited for them, all in one transaction. A scheduled single send that missed its time by
 * more than `graceMinutes` stays held for that reason. `address` is the network address of the person who opened the link.
 */
export function verifySender(db: Db, sender: Sender, address: string, now: Date, graceMinutes: number): void {
  const stamp = isoTimestamp(now);
  const normalized = parseAddress(sender.from_email)?.normalized;
  inTransaction(db, (tx) => {
    const verified = tx
      .select({ id: senders.id, from_email: senders.from_email })
      .from(senders)
      .where(ownedBy(senders, sender.user_id))
      .all()
      .filter(({ from_email }) => parseAddress(from_email)?.normalized === normalized)
      .map(({ id }) => id);
    tx.update(senders).set({ is_verified: 1, updated_at: stamp }).where(inArray(senders.id, verified)).run();
    const actor = { userId: null, name: '', address };
    audit(db, { accountId: sender.user_id, actor, action: 'sender_verified', subject: sender.from_email }, now);
    releaseSendsOfSenders(db, verified, now, graceMinutes);
    releaseMailingsOfSenders(db.$client, verified);
  });
}
