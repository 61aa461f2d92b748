/**
 * Keeps mails as sent. For accounts that allow it, what each accepted mail was made from is kept for 90 days, so that its exact bytes can
 * be rendered again. The bytes themselves are not kept, because most of them are the same for all recipients.
 */
import { hash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { DAY_MS } from '../../units.ts';
import type { DkimKey } from '../mime/dkim.ts';
import type { MailData } from '../mime/mail-data.ts';
import type { Claim } from '../queue/candidates.ts';
import type { CommonFacts } from '../queue/mailings.ts';
import type { ReadyMailing } from '../queue/ready-mailing.ts';
import type { SentFacts, SentRecipient } from '../queue/sent-mail.ts';

/** How long the data from which a mail was made is kept, in milliseconds. */
const KEPT_MS = 90 * DAY_MS;
/** The number of rows that one transaction removes. */
const REMOVED_ROWS = 500;

/** A message that is being handed off, of an account that keeps mails as sent. */
export class OutgoingMessage {
  /** The time at which the message was last rendered, in epoch milliseconds. */
  renderedAt = 0;
  /** The SHA-256 of the message that was last rendered. */
  digest: Buffer = Buffer.alloc(0);

  /** Notes the message that is about to be sent. */
  begin(date: Date, { bytes }: MailData): void {
    this.renderedAt = date.getTime();
    this.digest = hash('sha256', bytes, 'buffer');
  }
}

/** A message of a campaign or automation that is being sent, with the data from which it is made. */
export class OutgoingMail extends OutgoingMessage {
  readonly ready: ReadyMailing;
  readonly claim: Claim;
  readonly common: CommonFacts;
  /** The key that signs the message; null if it is not signed. */
  readonly key: DkimKey | null;
  /** True if a sender node renders the message. */
  readonly isByNode: boolean;

  constructor(
    ready: ReadyMailing,
    claim: Claim,
    common: CommonFacts,
    { key, isByNode }: Pick<OutgoingMail, 'key' | 'isByNode'>,
  ) {
    super();
    this.ready = ready;
    this.claim = claim;
    this.common = common;
    this.key = key;
    this.isByNode = isByNode;
  }
}

interface FactsRow {
  id: number;
  key: DkimKey | null;
  createdAt: number;
}

/** SQL that keeps a mail as sent, unless the recipient's address was deleted permanently in the meantime. */
const ADD = `
  INSERT OR REPLACE INTO sent_mails (delivery_id, facts_id, recipient, rendered_at, digest)
  SELECT @delivery, @facts, @recipient, @renderedAt, @digest FROM addresses WHERE id = @address AND normalized_email = @email`;

/** Keeps the data from which accepted mails were made, together with their results. */
export class SentMails {
  readonly #client: Database;
  #mails: OutgoingMail[] = [];
  /** The rows by the facts that mails have in common. Each preparation of a mailing makes a new object of facts. */
  #facts = new WeakMap<CommonFacts, FactsRow>();
  /** False from `write` to `clear`. */
  #isCommitted = true;

  constructor(client: Database) {
    this.#client = client;
  }

  /** The number of mails that are not on disk yet. */
  get length(): number {
    return this.#mails.length;
  }

  /** Adds a mail that a server accepted. */
  add(mail: OutgoingMail): void {
    this.#mails.push(mail);
  }

  /**
   * Writes the added mails. Call it inside the transaction that records the results, and call `clear` after the transaction has committed.
   */
  write(): void {
    // The rows of a transaction that did not commit do not exist.
    if (!this.#isCommitted) this.#facts = new WeakMap();
    this.#isCommitted = false;
    for (const mail of this.#mails) {
      const { claim, renderedAt, digest } = mail;
      this.#client.prepare(ADD).run({
        delivery: claim.id,
        facts: this.#factsOf(mail),
        recipient: JSON.stringify(recipientOf(mail)),
        renderedAt,
        digest,
        address: claim.address_id,
        email: claim.normalized_email,
      });
    }
  }

  /** Forgets the written mails. */
  clear(): void {
    this.#mails = [];
    this.#isCommitted = true;
  }

  /**
   * Returns the id of the row with the facts of a mail. A new row is written after the DKIM key has changed, and a day later, so that old
   * rows can be removed.
   */
  #factsOf({ ready, common, key, isByNode, renderedAt }: OutgoingMail): number {
    const known = this.#facts.get(common);
    if (known !== undefined && known.key === key && renderedAt - known.createdAt < DAY_MS) return known.id;
    const signedWith = key && { domain: key.domain, selector: key.selector };
    const facts: SentFacts = { ...common, key: signedWith, ...(isByNode && { is_by_node: true }) };
    const { lastInsertRowid } = this.#client
      .prepare('INSERT INTO sent_facts (mailing_id, facts, created_at) VALUES (?, ?, ?)')
      .run(ready.source.id, JSON.stringify(facts), renderedAt);
    const id = Number(lastInsertRowid);
    this.#facts.set(common, { id, key, createdAt: renderedAt });
    return id;
  }
}

/** Returns the part of a claim that rendering reads. Empty fields are omitted. */
function recipientOf({ ready, claim }: OutgoingMail): SentRecipient {
  const { address_id, normalized_email, is_unmeasured } = claim;
  const values = ready.fields.flatMap((field) => (claim[field] ? [[field, claim[field]]] : []));
  return { address_id, normalized_email, is_unmeasured, ...Object.fromEntries(values) };
}

const OLD_MAILS = 'SELECT delivery_id FROM sent_mails INDEXED BY sent_mails_rendered WHERE rendered_at < @mails';
const OLD_FACTS = 'SELECT id FROM sent_facts INDEXED BY sent_facts_created WHERE created_at < @facts';

/**
 * Removes some of the kept mails that are older than 90 days, in one short transaction. Returns true if there is more to do at once. `now`
 * is in epoch milliseconds.
 */
export function removeOldSentMails(client: Database, now: number): boolean {
  const before = { mails: now - KEPT_MS, facts: now - KEPT_MS - DAY_MS };
  const hasOld = client
    .prepare<[typeof before], { old: 0 | 1 }>(`SELECT EXISTS (${OLD_MAILS}) OR EXISTS (${OLD_FACTS}) AS old`)
    .get(before)?.old;
  if (hasOld !== 1) return false;
  client
    .transaction(() => {
      const { mails, facts } = before;
      client.prepare(`DELETE FROM sent_mails WHERE delivery_id IN (${OLD_MAILS} LIMIT ${REMOVED_ROWS})`).run({ mails });
      client.prepare(`DELETE FROM sent_facts WHERE id IN (${OLD_FACTS} LIMIT ${REMOVED_ROWS})`).run({ facts });
    })
    .immediate();
  return true;
}
