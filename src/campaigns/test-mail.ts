/** Test mails: the real content of a mail is sent to a few addresses, and no report counts these mails. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { and, asc, desc, eq, isNull, sql } from 'drizzle-orm';
import { addressId } from '../audience/contacts/address-rows.ts';
import { type Address, parseAddress } from '../audience/contacts/addresses.ts';
import { IS_ERASED, isErased } from '../audience/contacts/erased-addresses.ts';
import { refusalReason } from '../audience/eligibility.ts';
import type { Config } from '../config.ts';
import type { Db } from '../database/open.ts';
import { addresses as addressRows, deliveries, mailings, senders } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { type ContentSourceRow, freezeText } from '../delivery/compiling/freeze.ts';
import { holdFor } from '../delivery/queue/holds.ts';
import { deliveryQueue } from '../delivery/queue/ledger/enqueue.ts';
import { createMailing } from '../delivery/queue/mailing-state.ts';
import { isTestMode, isUnverified } from '../delivery/transport/relays/in-use.ts';
import { conflict, invalid } from '../errors/failure.ts';
import { messages } from '../errors/field-errors.ts';
import { type Sentence, sentence } from '../errors/sentences.ts';
import { readStored } from '../errors/stored.ts';
import { isoTimestamp } from '../time/clock.ts';
import type { SingleSendActionDeps } from './single-sends.ts';

/** The owner kind of the mailing of a test, by the kind of record that is tested. */
const OWNER_KINDS = { single: 'single_test', schedule: 'schedule_test', template: 'template_test' } as const;

/** The single send, the mail of an automation or the own template that is tested. */
interface TestMailSource extends ContentSourceRow {
  kind: keyof typeof OWNER_KINDS;
  id: number;
  user_id: number;
  sender_id: number;
  unsubscribe_group_id: number;
  /** The sender name of a variant; if empty or absent, the mail has the name of the sender. */
  sender_name?: string;
  /** The ids of the attachments of the mail. */
  attachments?: readonly number[];
}

/**
 * Queues a test mail to each address, merged with the values of the newest contact with this address, if there is one. Either all
 * addresses get the test or none does. Throws 409 with the problem that the owner must fix first, and 422 if an address is
 * unsubscribed or suppressed, because otherwise the user would wait for a mail that never comes.
 */
export async function queueTestMail(
  deps: SingleSendActionDeps,
  tested: TestMailSource,
  addresses: readonly Address[],
): Promise<void> {
  const { db, clock, config, wake } = deps;
  const sender = db.select().from(senders).where(eq(senders.id, tested.sender_id)).get();
  if (sender === undefined || sender.deleted_at !== null) throw conflict(holdFor('sender_deleted').held_reason);
  if (isUnverified(db.$client, config, sender)) throw conflict(holdFor('sender_unverified').held_reason);
  const usedSender = { ...sender, from_name: tested.sender_name || sender.from_name };
  const { attachments = [] } = tested;
  const facts = { has_own_sender_name: Boolean(tested.sender_name), ...(attachments.length > 0 && { attachments }) };
  const result = await freezeText(db, config, tested, usedSender, facts);
  if ('problem' in result) throw conflict(result.problem);
  // Let other requests be answered before a large mail is written.
  await setImmediate();
  inTransaction(db, () => {
    const mailing = {
      user_id: tested.user_id,
      owner_kind: OWNER_KINDS[tested.kind],
      owner_id: tested.id,
      sender_id: sender.id,
      unsubscribe_group_id: tested.unsubscribe_group_id || null,
      content: result.frozen,
      created_at: isoTimestamp(clock.now()),
    };
    const mailing_id = createMailing(db, mailing, result.links);
    const queue = deliveryQueue(db.$client);
    const newestContact = db.$client
      .prepare<[number], number | null>('SELECT max(id) FROM contacts WHERE address_id = ? AND deleted_at IS NULL')
      .pluck();
    for (const address of addresses) {
      if (isErased(db.$client, tested.user_id, address.normalized))
        throw invalid('email_address', messages.erased('email_address'));
      const address_id = addressId(db, tested.user_id, address);
      queue({
        mailing_id,
        address_id,
        contact_id: newestContact.get(address_id) ?? null,
        segment_recipient_id: null,
      });
    }
    const refused = listIneligible(db, mailing_id);
    if (refused.length > 0) throw invalid('email_address', refusal(refused));
  });
  wake();
}

/** The last test of a mail. */
export interface LastTest {
  /** An ISO timestamp. */
  sent_at: string;
  /** The addresses to which the test was sent, without those erased since. */
  addresses: string[];
}

/**
 * Returns the last test of a record of an account, from the dashboard, the designer or the API; null if there was none. Tests of earlier
 * releases do not count, because they do not say which kind of record was tested.
 */
export function findLastTest(
  db: Db,
  accountId: number,
  { kind, id }: Pick<TestMailSource, 'kind' | 'id'>,
): LastTest | null {
  const last = db
    .select({ id: mailings.id, sent_at: mailings.created_at })
    .from(mailings)
    .where(and(eq(mailings.user_id, accountId), eq(mailings.owner_kind, OWNER_KINDS[kind]), eq(mailings.owner_id, id)))
    .orderBy(desc(mailings.revision), desc(mailings.id))
    .limit(1)
    .get();
  if (last === undefined) return null;
  const recipients = db
    .select({ address: addressRows.normalized_email })
    .from(deliveries)
    .innerJoin(addressRows, eq(addressRows.id, deliveries.address_id))
    .where(and(eq(deliveries.mailing_id, last.id), sql.raw(`NOT (${IS_ERASED})`)))
    .orderBy(asc(deliveries.id))
    .all();
  return { sent_at: last.sent_at, addresses: recipients.map(({ address }) => address) };
}

/**
 * Throws 409 if one of these addresses belongs neither to a sender nor to a contact of the account. Visitors with a link to the design page
 * and key pairs without the scope `everything` may send tests only to such addresses.
 */
export function requireOwnAddresses(db: Db, accountId: number, addresses: readonly Address[]): void {
  for (const { address, normalized } of addresses)
    if (!isContact(db, accountId, normalized) && !isSender(db, accountId, normalized))
      throw conflict(sentence('test_foreign_address', { address }));
}

function isContact({ $client }: Db, accountId: number, normalized: string): boolean {
  const find = $client.prepare(`
    SELECT 1 FROM addresses a CROSS JOIN contacts c ON c.address_id = a.id AND c.deleted_at IS NULL
    WHERE a.user_id = ? AND a.normalized_email = ? LIMIT 1`);
  return find.get(accountId, normalized) !== undefined;
}

function isSender(db: Db, accountId: number, normalized: string): boolean {
  return db
    .select({ from: senders.from_email, replyTo: senders.reply_to_email })
    .from(senders)
    .where(and(eq(senders.user_id, accountId), isNull(senders.deleted_at)))
    .all()
    .some(({ from, replyTo }) => [from, replyTo].some((text) => parseAddress(text)?.normalized === normalized));
}

/** Returns the API's message about a queued test mail. */
export function testMailMessage(client: Database, config: Config): string {
  return isTestMode(client, config) ? 'Test Mail Kept in the Test Outbox' : 'Test Mail Sent Successfully';
}

/** Returns the recipients of a mailing who may not get mail, with the reasons, by the rule with which deliveries are claimed. */
function listIneligible(db: Db, mailingId: number): { email: string; reason: string }[] {
  return db.$client
    .prepare<[number], { email: string; reason: string }>(`
      SELECT * FROM (
        SELECT a.normalized_email AS email, ${refusalReason('d', 'm.unsubscribe_group_id')} AS reason
        FROM deliveries d CROSS JOIN mailings m ON m.id = d.mailing_id CROSS JOIN addresses a ON a.id = d.address_id
        WHERE d.mailing_id = ? ORDER BY d.id)
      WHERE reason IS NOT NULL`)
    .all(mailingId);
}

/** Returns the sentence that names the addresses, at least one, that may not get mail, with the reasons. */
function refusal(refused: readonly { email: string; reason: string }[]): Sentence {
  const each = refused.map(({ email, reason }) =>
    sentence('test_refused', { address: email, reason: readStored(reason) }),
  );
  return sentence('no_test_sent', { who: each.reduce((who, more) => sentence('test_refused_more', { who, more })) });
}
