/** Mailings as the worker needs them: their frozen content prepared once, then a handful of joins per recipient. */

import { asciiAddress } from '../audience/addresses.ts';
import { customFieldsOf } from '../audience/fields.ts';
import type { Clock } from '../clock.ts';
import type { Db } from '../database/open.ts';
import { returnPath } from './bounces/verp.ts';
import type { Content } from './compiled.ts';
import { DkimKeys } from './dkim-keys.ts';
import type { Claim } from './ledger.ts';
import type { MailData } from './mail-data.ts';
import { type Prepared, prepare, render } from './message.ts';
import { type Tokens, tokenSecrets } from './tokens.ts';
import { type Person, personFields, valuesOf } from './values.ts';

/** What `mailings.content` holds, as JSON. */
export interface FrozenContent {
  content: Content;
  from_email: string;
  reply_to: string;
  sender_name: string;
  sender_address: string;
  /** Random part of the mailing's Message-IDs: with the delivery's id it stays the same over retries and restarts. */
  message_key: string;
}

interface MailingDeps {
  clock: Clock;
  tokens: Tokens;
  publicUrl: string;
  /** Domain of return paths; '' when mail comes back to the sender itself. */
  bounceDomain: string;
}

/** One mailing, ready to render. */
export interface ReadyMailing {
  /** What of a person its mails need. */
  readonly fields: readonly (keyof Person)[];
  envelopeFrom(claim: Claim): string;
  /** The whole message for a claimed recipient, in this memory if it is large enough. */
  render(claim: Claim, to: string, memory?: Buffer): MailData;
  /** The same with its DKIM signature, made in the thread pool; null when the sender's domain has no key. */
  renderSigned(claim: Claim, to: string): Promise<MailData> | null;
  /** Looks for a newer key. */
  refresh(): void;
}

interface MailingRow {
  id: number;
  user_id: number;
  unsubscribe_group_id: number | null;
  owner_kind: string;
  content: string;
}

/** Prepares mailings at first use and keeps them until they are done. */
export class Mailings {
  readonly #db: Db;
  readonly #facts: MailingDeps;
  readonly #keys: DkimKeys;
  readonly #ready = new Map<number, ReadyMailing>();

  constructor(db: Db, facts: MailingDeps) {
    this.#db = db;
    this.#facts = facts;
    this.#keys = new DkimKeys(db.$client);
  }

  /** The mailing with this id, signing with the newest key there is now: to be asked for once a batch. */
  get(id: number): ReadyMailing {
    const present = this.#ready.get(id);
    if (present !== undefined) {
      present.refresh();
      return present;
    }
    const row = this.#db.$client
      .prepare<[number], MailingRow>(
        'SELECT id, user_id, unsubscribe_group_id, owner_kind, content FROM mailings WHERE id = ?',
      )
      .get(id);
    if (row === undefined) throw new Error(`mailing ${id} does not exist`);
    const made = readyMailing(this.#db, this.#facts, this.#keys, row);
    this.#ready.set(id, made);
    return made;
  }

  forget(id: number): void {
    this.#ready.delete(id);
  }
}

function readyMailing(
  db: Db,
  { clock, tokens, publicUrl, bounceDomain }: MailingDeps,
  keys: DkimKeys,
  row: MailingRow,
): ReadyMailing {
  const frozen: FrozenContent = JSON.parse(row.content);
  const [secret = ''] = tokenSecrets(db.$client);
  const isCampaign = row.owner_kind !== 'system';
  // As it is shown, the domain may be international; whatever the mail and its envelope hold is ASCII.
  const from = asciiAddress(frozen.from_email);
  if (from === null) throw new Error('its sender has no valid address');
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const names = customFieldsOf(db, row.user_id);
  const prepared: Prepared = prepare(frozen.content, {
    from: { name: frozen.sender_name, address: from },
    replyTo: frozen.reply_to === frozen.from_email ? null : frozen.reply_to,
    constants: { sender_name: frozen.sender_name, sender_address: frozen.sender_address },
    bulk: isCampaign
      ? {
          listId: `${row.unsubscribe_group_id ?? 0}.${row.user_id}.${domain}`,
          feedbackId: `${row.id}:${row.user_id}:sendlark`,
        }
      : null,
  });
  const signingDomain = domain;
  let signer = keys.signerOf(signingDomain);
  const ready: ReadyMailing = {
    fields: personFields(frozen.content.placeholders, names),
    refresh() {
      signer = keys.signerOf(signingDomain);
    },
    envelopeFrom: ({ id, compared_email: email }) =>
      bounceDomain === '' ? from : returnPath(secret, { id, email }, bounceDomain),
    renderSigned(claim, to) {
      if (signer === null) return null;
      const message = ready.render(claim, to);
      return signer.signAside(message.bytes, clock.now()).then((field) => message.withField(field));
    },
    render: (claim, to, memory) => {
      const own = tokens.recipient({
        delivery: claim.id,
        mailing: row.id,
        address: claim.address_id,
        group: row.unsubscribe_group_id ?? 0,
        user: row.user_id,
        email: claim.compared_email,
      });
      const preferences = `${publicUrl}/u/${own.unsubscribe}`;
      const values = valuesOf(claim, names, to);
      return render(
        prepared,
        {
          address: to,
          name: values.full_name ?? '',
          values,
          messageId: `${frozen.message_key}.${claim.id}@${domain}`,
          date: clock.now(),
          urls: {
            preferences,
            oneClick: preferences,
            webCopy: `${publicUrl}/w/${own.web}`,
            open: `${publicUrl}/o/${own.open}.gif`,
            click: `${publicUrl}/c/${own.click}/`,
          },
        },
        memory,
      );
    },
  };
  return ready;
}
