/** The verification of senders, and what verifying or deleting one does to the campaigns that use it. */
import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import { addressId } from '../audience/contacts/address-rows.ts';
import { parseAddress } from '../audience/contacts/addresses.ts';
import { holdAutomations } from '../automations/automations.ts';
import { isoTimestamp, plainTimestamp } from '../clock.ts';
import type { Db } from '../database/open.ts';
import { deliveries, mailings, senders, singleSends } from '../database/schema/index.ts';
import type { Tokens } from '../delivery/links/tokens.ts';
import { State } from '../delivery/queue/ledger.ts';
import { SENDER_DELETED, WAITING_FOR_SENDER } from '../delivery/queue/sender.ts';
import { verificationContent } from './verification-mail.ts';

type Sender = typeof senders.$inferSelect;

const PURPOSE = 'verify-sender';
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** How many days the link in a verification mail works. */
const LINK_DAYS = 7;
/** An account can send a verification mail to the same address once in this time. */
const RESEND_MS = 5 * 60 * 1000;

/** The newest verification mail to an address, and the state of its delivery. */
interface Verification {
  /** ISO 8601 in UTC. */
  sent_at: string;
  held_reason: string | null;
  state: number;
  attempts: number;
  /** The relay's answer, or why the mail was not sent. */
  reply: string | null;
}

/**
 * The newest verification mail of the account to the address of this sender, whichever of its senders asked for it; undefined
 * when there was none.
 */
export function findLastVerification(db: Db, sender: Sender): Verification | undefined {
  return db.$client
    .prepare<[number, string], Verification>(`
      SELECT m.created_at AS sent_at, m.held_reason, d.state, d.attempt AS attempts, d.reply
      FROM senders s
        CROSS JOIN mailings m INDEXED BY mailings_verification ON m.owner_kind = 'system' AND m.owner_id = s.id
        CROSS JOIN deliveries d ON d.mailing_id = m.id
        CROSS JOIN addresses a ON a.id = d.address_id
      WHERE s.user_id = ? AND a.compared_email = ? ORDER BY m.id DESC LIMIT 1`)
    .get(sender.user_id, parseAddress(sender.from_email)?.normalized ?? '');
}

/**
 * Whether it is too soon for another verification mail to this address: one was sent a few minutes ago, or one from the last day is
 * still queued. A mail that was not sent because the address is unsubscribed or suppressed does not count.
 */
function isTooSoon(last: Verification | undefined, now: Date): boolean {
  if (last === undefined || last.state === State.suppressed) return false;
  const age = now.getTime() - Date.parse(last.sent_at);
  const isWaiting = last.state === State.queued || last.state === State.sending;
  return age >= 0 && age < (isWaiting ? DAY_MS : RESEND_MS);
}

/**
 * Queues the verification mail and sets `send_at`, unless the address got one a few minutes ago, so that nobody can use Sendlark to
 * flood a stranger's mailbox. Call inside the transaction of the change that requires the verification.
 */
export function sendVerification(
  deps: { db: Db; tokens: Tokens; publicUrl(): string },
  sender: Sender,
  now: Date,
): void {
  const { db, tokens } = deps;
  const token = tokens.sign(
    PURPOSE,
    JSON.stringify([sender.id, sender.from_email, now.getTime() + LINK_DAYS * DAY_MS]),
  );
  const address = parseAddress(sender.from_email);
  if (address === null) throw new Error('a sender without a valid address');
  if (isTooSoon(findLastVerification(db, sender), now)) return;
  const { id } = db
    .insert(mailings)
    .values({
      user_id: sender.user_id,
      owner_kind: 'system',
      owner_id: sender.id,
      content: JSON.stringify(verificationContent(sender.from_email, `${deps.publicUrl()}/verify/${token}`, LINK_DAYS)),
      state: 'sending',
      created_at: isoTimestamp(now),
    })
    .returning({ id: mailings.id })
    .get();
  db.insert(deliveries)
    .values({ mailing_id: id, address_id: addressId(db, sender.user_id, address) })
    .run();
  db.update(senders)
    .set({ send_at: plainTimestamp(now) })
    .where(eq(senders.id, sender.id))
    .run();
}

/** The sender of a verification link; null if the link is forged or expired, or the sender was deleted or has another address now. */
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
 * Marks a sender as verified, and with it the account's other senders with the same address, since they share the verification mail.
 * Then releases the single sends and mailings that waited for them. A scheduled single send that missed its time by more than
 * `graceMinutes` stays held, with that as the reason. One transaction.
 */
export function verifySender(db: Db, sender: Sender, now: Date, graceMinutes: number): void {
  const stamp = isoTimestamp(now);
  const normalized = parseAddress(sender.from_email)?.normalized;
  const late = sql`CAST((${now.getTime()} - starts_at) / ${MINUTE_MS} AS INTEGER)`;
  const isMissed = sql`schedule_type = 1 AND ${now.getTime()} - starts_at > ${graceMinutes * MINUTE_MS}`;
  db.transaction(
    (tx) => {
      const verified = tx
        .select({ id: senders.id, from_email: senders.from_email })
        .from(senders)
        .where(and(eq(senders.user_id, sender.user_id), sql`${senders.deleted_at} IS NULL`))
        .all()
        .filter(({ from_email }) => parseAddress(from_email)?.normalized === normalized)
        .map(({ id }) => id);
      tx.update(senders).set({ is_verified: 1, updated_at: stamp }).where(inArray(senders.id, verified)).run();
      tx.update(singleSends)
        .set({
          status: sql`iif(${isMissed}, 0, 1)`,
          held_reason: sql`iif(${isMissed}, 'Missed its time by ' || ${late} || ' minutes: its sender was not verified', NULL)`,
          starts_at: sql`iif(schedule_type = 1, starts_at, max(starts_at, ${now.getTime()}))`,
          updated_at: stamp,
        })
        .where(
          and(
            inArray(singleSends.sender_id, verified),
            eq(singleSends.status, 0),
            eq(singleSends.held_reason, WAITING_FOR_SENDER),
          ),
        )
        .run();
      tx.update(mailings)
        .set({ state: 'sending', held_reason: null })
        .where(
          and(
            inArray(mailings.sender_id, verified),
            eq(mailings.state, 'held'),
            eq(mailings.held_reason, WAITING_FOR_SENDER),
          ),
        )
        .run();
    },
    { behavior: 'immediate' },
  );
}

/**
 * Holds the campaigns that use a deleted sender: queued single sends go back to status 0, running ones are held, and live automations
 * go back to draft, each with the reason. Call inside the transaction of the deletion. Gives the ids of the sender's unfinished
 * mailings: once the worker has acknowledged their state, no more mail is sent from this sender.
 */
export function holdCampaignsUsingSender(db: Db, senderId: number, now: string): number[] {
  db.update(singleSends)
    .set({ status: 0, held_reason: SENDER_DELETED, updated_at: now })
    .where(and(eq(singleSends.sender_id, senderId), eq(singleSends.status, 1)))
    .run();
  const names = sql`id IN (SELECT automation_id FROM automation_schedules WHERE sender_id = ${senderId})`;
  holdAutomations(db, names, 'A sender of its mails was deleted', now);
  const theirs = and(eq(mailings.sender_id, senderId), isNull(mailings.finished_at));
  db.update(mailings)
    .set({ state: 'held', held_reason: SENDER_DELETED })
    .where(and(theirs, eq(mailings.state, 'sending')))
    .run();
  return db
    .select({ id: mailings.id })
    .from(mailings)
    .where(theirs)
    .all()
    .map(({ id }) => id);
}
