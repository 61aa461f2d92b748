/** Prepares mailings for sending: the frozen content is parsed once, so that each recipient costs only a few string joins. */

import { asciiAddress } from '../../audience/contacts/addresses.ts';
import { listCustomFields } from '../../audience/contacts/contact-fields.ts';
import type { Clock } from '../../clock.ts';
import type { Db } from '../../database/open.ts';
import type { Content } from '../content/compiled-content.ts';
import { mergeValues, type Person, personFields } from '../content/values.ts';
import { returnPath } from '../links/return-paths.ts';
import { type Tokens, tokenSecrets } from '../links/tokens.ts';
import { DkimKeys } from '../mime/dkim-keys.ts';
import type { MailData } from '../mime/mail-data.ts';
import { type Prepared, prepare, render } from '../mime/message.ts';
import type { Claim } from './candidates.ts';
import type { Held } from './held.ts';
import { type SenderFacts, Senders } from './sender.ts';

/** What `mailings.content` holds, as JSON. */
export interface FrozenContent extends SenderFacts {
  content: Content;
  /** Random part of the mailing's Message-IDs: with the delivery's id it stays the same over retries and restarts. */
  message_key: string;
}

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

/** One mailing, ready to render. */
export interface ReadyMailing {
  /** The fields of a person that its mails use. */
  readonly fields: readonly (keyof Person)[];
  envelopeFrom(claim: Claim): string;
  /** The whole message for a claimed recipient, written into `buffer` if that is large enough. */
  render(claim: Claim, to: string, buffer?: Buffer): MailData;
  /** The same with its DKIM signature, made in the thread pool; null when the sender's domain has no key. */
  renderSigned(claim: Claim, to: string): Promise<MailData> | null;
  /** Switches to a newer DKIM key, if there is one. */
  refresh(): void;
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
    const ready = readyMailing(this.#db, this.#facts, this.#keys, row ?? this.#read(id), sender);
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

function readyMailing(
  db: Db,
  { clock, tokens, publicUrl, bounceDomain }: MailingDeps,
  keys: DkimKeys,
  row: MailingRow,
  sender: SenderFacts | null,
): ReadyMailing {
  const frozen: FrozenContent = JSON.parse(row.content);
  const { from_email, reply_to, sender_name, sender_address } = sender ?? frozen;
  const [secret = ''] = tokenSecrets(db.$client);
  const isCampaign = row.owner_kind !== 'system';
  // The domain as it is displayed may be international; the mail and its envelope need it in ASCII.
  const from = asciiAddress(from_email);
  if (from === null) throw new Error('its sender has no valid address');
  const domain = domainOf(from);
  // A mail that is tried again keeps its Message-ID, even if the sender has changed.
  const idDomain = domainOf(asciiAddress(frozen.from_email) ?? from);
  const origin = publicUrl();
  const names = listCustomFields(db, row.user_id);
  const prepared: Prepared = prepare(frozen.content, {
    from: { name: sender_name, address: from },
    replyTo: reply_to === from_email ? null : reply_to,
    constants: { sender_name, sender_address },
    bulk: isCampaign
      ? {
          listId: `${row.unsubscribe_group_id ?? 0}.${row.user_id}.${domain}`,
          feedbackId: `${row.id}:${row.user_id}:sendlark`,
        }
      : null,
  });
  const signingDomain = domain;
  let signer = keys.findSigner(signingDomain);
  const ready: ReadyMailing = {
    fields: personFields(frozen.content.placeholders, names),
    refresh() {
      signer = keys.findSigner(signingDomain);
    },
    envelopeFrom: ({ id, normalized_email: email }) =>
      bounceDomain === '' ? from : returnPath(secret, { id, email }, bounceDomain),
    renderSigned(claim, to) {
      if (signer === null) return null;
      const message = ready.render(claim, to);
      return signer.signInThreadPool(message.bytes, clock.now()).then((field) => message.withField(field));
    },
    render: (claim, to, buffer) => {
      const own = tokens.recipient({
        delivery: claim.id,
        mailing: row.id,
        address: claim.address_id,
        group: row.unsubscribe_group_id ?? 0,
        user: row.user_id,
        email: claim.normalized_email,
      });
      const preferences = `${origin}/u/${own.unsubscribe}`;
      const values = mergeValues(claim, names, to);
      return render(
        prepared,
        {
          address: to,
          name: values.full_name ?? '',
          values,
          messageId: `${frozen.message_key}.${claim.id}@${idDomain}`,
          date: clock.now(),
          urls: {
            preferences,
            oneClick: preferences,
            webCopy: `${origin}/w/${own.web}`,
            open: `${origin}/o/${own.open}.gif`,
            click: `${origin}/c/${own.click}/`,
          },
        },
        buffer,
      );
    },
  };
  return ready;
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}
