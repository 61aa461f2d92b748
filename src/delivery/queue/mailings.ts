/** Prepares mailings for sending: the frozen content is parsed once, so that each recipient costs only a few string joins. */

import { listCustomFields } from '../../audience/contacts/contact-fields.ts';
import type { Clock } from '../../clock.ts';
import type { Db } from '../../database/open.ts';
import { type Tokens, tokenSecrets } from '../links/tokens.ts';
import { DkimKeys } from '../mime/dkim-keys.ts';
import type { Held } from './held.ts';
import { type FrozenContent, type ReadyMailing, readyMailing, senderDomain } from './ready-mailing.ts';
import { Senders } from './sender.ts';

interface MailingDeps {
  clock: Clock;
  tokens: Tokens;
  /** Origin of links now, without a trailing slash. */
  publicUrl(): string;
  /** Domain of return paths; '' when mail comes back to the sender itself. */
  bounceDomain: string;
  /** Whether only a verified sender may send now. */
  mustBeVerified: () => boolean;
}

interface MailingRow {
  id: number;
  user_id: number;
  unsubscribe_group_id: number | null;
  owner_kind: string;
  sender_id: number | null;
  content: string;
}

/** A mailing as it was last prepared. */
interface CachedMailing {
  ready: ReadyMailing;
  senderId: number | null;
  /** Its sender and the origin of its links then, as JSON. */
  facts: string;
}

/** Prepares mailings at first use and keeps them until they are done. */
export class Mailings {
  readonly #db: Db;
  readonly #facts: MailingDeps;
  readonly #keys: DkimKeys;
  readonly #senders: Senders;
  readonly #kept = new Map<number, CachedMailing>();

  constructor(db: Db, facts: MailingDeps) {
    this.#db = db;
    this.#facts = facts;
    this.#keys = new DkimKeys(db.$client);
    this.#senders = new Senders(db.$client, facts.mustBeVerified);
  }

  /**
   * The mailing with this id, with its sender and the origin of links as they are now and the newest DKIM key, or why it may not be sent.
   * Call it once per batch: the mailing is prepared again only when sender or origin has changed.
   */
  get(id: number): ReadyMailing | Held {
    const kept = this.#kept.get(id);
    const row = kept === undefined ? this.#read(id) : null;
    const senderId = kept?.senderId ?? row?.sender_id ?? null;
    const sender = senderId === null ? null : this.#senders.get(senderId);
    if (sender !== null && 'held_code' in sender) return sender;
    const facts = JSON.stringify([sender, this.#facts.publicUrl()]);
    if (kept?.facts === facts) {
      kept.ready.refresh();
      return kept.ready;
    }
    const { content, ...ids } = row ?? this.#read(id);
    const frozen: FrozenContent = JSON.parse(content);
    const { clock, tokens, publicUrl, bounceDomain } = this.#facts;
    const [secret = ''] = tokenSecrets(this.#db.$client);
    const names = listCustomFields(this.#db, ids.user_id);
    const domain = senderDomain(frozen, sender);
    const source = { ...ids, frozen, sender, names, origin: publicUrl(), bounceDomain, secret };
    const ready = readyMailing(source, { clock, tokens, findKey: () => this.#keys.findKey(domain) });
    this.#kept.set(id, { ready, senderId, facts });
    return ready;
  }

  forget(id: number): void {
    this.#kept.delete(id);
  }

  #read(id: number): MailingRow {
    const row = this.#db.$client
      .prepare<[number], MailingRow>(
        'SELECT id, user_id, unsubscribe_group_id, owner_kind, sender_id, content FROM mailings WHERE id = ?',
      )
      .get(id);
    if (row === undefined) throw new Error(`mailing ${id} does not exist`);
    return row;
  }
}
