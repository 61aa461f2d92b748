/** Limits whose data a design page shows and to whom it sends tests: the account's own people, and only a few tests per link. */
import { and, eq, isNull } from 'drizzle-orm';
import { findAddressId } from '../audience/contacts/address-rows.ts';
import { type Address, parseAddress } from '../audience/contacts/addresses.ts';
import type { Db } from '../database/open.ts';
import { senders } from '../database/schema/index.ts';
import type { Values } from '../delivery/content/merge.ts';
import { findAudienceContact } from '../delivery/queue/enqueue-recipients.ts';
import { findContactValues } from '../delivery/queue/recipient-values.ts';
import { conflict, Failure } from '../errors/failure.ts';
import { type Design, LINK_MS } from './designs.ts';

/** The most tests of one link. Refused ones count too, so that a link cannot be used to find out who is a contact. */
const MAX_TESTS = 10;
const TOO_MANY_REQUESTS = 429;

/**
 * Checks that the page may send a test to this address, and counts it. Throws 429 when the link has reached `MAX_TESTS`, and 409 when
 * the address belongs to none of the account's senders and contacts.
 */
export function allowTest(db: Db, { utr, until, user_id }: Design, { normalized, address }: Address, now: Date): void {
  const forget = db.$client.prepare('DELETE FROM design_tests WHERE until < ?');
  const count = db.$client.prepare(`
    INSERT INTO design_tests (utr, until, tests) VALUES (?, ?, 1)
    ON CONFLICT DO UPDATE SET tests = tests + 1 WHERE tests < ${MAX_TESTS}`);
  const isCounted = db.$client.transaction(() => {
    forget.run(now.getTime() - LINK_MS);
    return count.run(utr, until).changes > 0;
  });
  if (!isCounted.immediate())
    throw new Failure(TOO_MANY_REQUESTS, `This link has sent its ${MAX_TESTS} test mails. A new link sends more.`);
  if (!isContact(db, user_id, normalized) && !isSender(db, user_id, normalized))
    throw conflict(`Tests go to addresses of your senders and contacts only; ${address} is none of them.`);
}

function isContact({ $client }: Db, accountId: number, normalized: string): boolean {
  const found = $client.prepare(`
    SELECT 1 FROM addresses a CROSS JOIN contacts c ON c.address_id = a.id AND c.deleted_at IS NULL
    WHERE a.user_id = ? AND a.normalized_email = ? LIMIT 1`);
  return found.get(accountId, normalized) !== undefined;
}

function isSender(db: Db, accountId: number, normalized: string): boolean {
  return db
    .select({ from: senders.from_email, replyTo: senders.reply_to_email })
    .from(senders)
    .where(and(eq(senders.user_id, accountId), isNull(senders.deleted_at)))
    .all()
    .some(({ from, replyTo }) => [from, replyTo].some((own) => parseAddress(own)?.normalized === normalized));
}

/**
 * The placeholder values for the preview of a design: those of the contact in its audience with this address, or of any contact in it
 * when `address` is null. Null when no such contact exists.
 */
export function sampleValues(db: Db, design: Design, address: Address | null): Values | null {
  const addressId = address === null ? null : findAddressId(db, design.user_id, address);
  if (addressId === undefined) return null;
  const contactId = findAudienceContact(db.$client, design, addressId) ?? undefined;
  return findContactValues(db, design.user_id, contactId);
}
