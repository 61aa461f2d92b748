/** Senders beyond their record: the verification mail, what a verification or a deletion does to sends that name the sender. */
import { and, eq, sql } from 'drizzle-orm';
import { parseAddress } from '../audience/addresses.ts';
import { personId } from '../audience/people.ts';
import { plainTime, wireTime } from '../clock.ts';
import type { Db } from '../database/open.ts';
import { deliveries, mailings, senders, singleSends } from '../database/schema.ts';
import type { Tokens } from '../delivery/tokens.ts';
import { holdAutomations } from './automations.ts';
import { WAITING_FOR_SENDER } from './launch.ts';
import { verificationContent } from './verification-mail.ts';

type Sender = typeof senders.$inferSelect;

const PURPOSE = 'verify-sender';
const DAY = 24 * 60 * 60 * 1000;
/** How long the link in a verification mail works. */
const LINK_DAYS = 7;

/** Queues the verification mail and stamps `send_at`. Call inside the transaction of the change that asks for it. */
export function sendVerification(
  deps: { db: Db; tokens: Tokens; publicUrl(): string },
  sender: Sender,
  now: Date,
): void {
  const { db, tokens } = deps;
  const token = tokens.sign(PURPOSE, JSON.stringify([sender.id, sender.from_email, now.getTime() + LINK_DAYS * DAY]));
  const address = parseAddress(sender.from_email);
  if (address === null) throw new Error('a sender without a valid address');
  const { id } = db
    .insert(mailings)
    .values({
      user_id: sender.user_id,
      owner_kind: 'system',
      owner_id: sender.id,
      content: JSON.stringify(verificationContent(sender.from_email, `${deps.publicUrl()}/verify/${token}`, LINK_DAYS)),
      state: 'sending',
      created_at: wireTime(now),
    })
    .returning({ id: mailings.id })
    .get();
  db.insert(deliveries)
    .values({ mailing_id: id, address_id: personId(db, sender.user_id, address) })
    .run();
  db.update(senders)
    .set({ send_at: plainTime(now) })
    .where(eq(senders.id, sender.id))
    .run();
}

/** The sender a verification link is for, while the link is ours, in time, and the address still the sender's. */
export function senderOfLink(db: Db, tokens: Tokens, token: string, now: Date): Sender | null {
  const text = tokens.read(PURPOSE, token);
  if (text === null) return null;
  const [id, email, until]: [number, string, number] = JSON.parse(text);
  const sender = db.select().from(senders).where(eq(senders.id, id)).get();
  if (sender === undefined || sender.deleted_at !== null || sender.from_email !== email || now.getTime() > until)
    return null;
  return sender;
}

/** Marks a sender verified and queues the sends that waited for it, in one transaction. */
export function verifySender(db: Db, sender: Sender, now: Date): void {
  const stamp = wireTime(now);
  db.transaction(
    (tx) => {
      tx.update(senders).set({ is_verified: 1, updated_at: stamp }).where(eq(senders.id, sender.id)).run();
      tx.update(singleSends)
        // Its time may have passed while it waited for this: that is no outage.
        .set({ status: 1, held_reason: null, starts_at: sql`max(starts_at, ${now.getTime()})`, updated_at: stamp })
        .where(
          and(
            eq(singleSends.sender_id, sender.id),
            eq(singleSends.status, 0),
            eq(singleSends.held_reason, WAITING_FOR_SENDER),
          ),
        )
        .run();
    },
    { behavior: 'immediate' },
  );
}

/** Puts queued sends that name a deleted sender back to status 0, live automations to draft (decisions §2). Call inside the deletion's transaction. */
export function releaseSender(db: Db, senderId: number, now: string): void {
  db.update(singleSends)
    .set({ status: 0, held_reason: 'The sender was deleted', updated_at: now })
    .where(and(eq(singleSends.sender_id, senderId), eq(singleSends.status, 1)))
    .run();
  const names = sql`id IN (SELECT automation_id FROM automation_schedules WHERE sender_id = ${senderId})`;
  holdAutomations(db, names, 'A sender of its mails was deleted', now);
}
