/**
 * Makes mailings ready to render. A ready mailing is made from plain data, so that a sender node makes the same mails as the service
 * itself.
 */

import { asciiAddress, domainOf } from '../../audience/contacts/addresses.ts';
import { SaidError, sentence } from '../../errors/sentences.ts';
import type { Content } from '../content/compiled-content.ts';
import type { Values } from '../content/merge.ts';
import { type CustomName, contactFieldsFor, contactLanguage, LANGUAGE_FIELDS, mergeValues } from '../content/values.ts';
import { returnPath } from '../links/return-paths.ts';
import type { LinkTokens } from '../links/tokens.ts';
import type { DkimKey } from '../mime/dkim.ts';
import { MailData } from '../mime/mail-data.ts';
import { type PreparedMessage, prepare, render } from '../mime/message.ts';
import type { Claim, ClaimField } from './candidates.ts';
import type { SenderFacts } from './sender.ts';

/** The JSON in `mailings.content`. */
export interface FrozenContent extends SenderFacts {
  content: Content;
  /** The random part of the mailing's Message-IDs. Together with the delivery's id it stays the same over retries and restarts. */
  message_key: string;
  /** True if `sender_name` replaces the sender's own name, as in a test mail of a variant. */
  has_own_sender_name?: boolean;
  /**
   * In an A/B test, the variants B, C and D; `content` is variant A. In a mail in several languages, its versions in languages other than
   * that of `content`.
   */
  variants?: readonly FrozenVariant[];
  /** In a mail with versions, the language that is assumed for contacts whose language is unknown. */
  language?: string;
  /** The ids of the mail's attachments. */
  attachments?: readonly number[];
}

/** The content in which a variant of a mail differs. */
export interface FrozenVariant {
  content: Content;
  /** The sender's name in this variant; null if it is the sender's own name. */
  sender_name: string | null;
  /** The ISO 639-1 code of the language, if this is a version in another language. */
  language?: string;
}

/**
 * Returns a function that finds the number of the version in the language of a contact, where 0 is the mail itself. Returns null if the
 * mail has no versions.
 */
function versionFinder({
  variants = [],
  language: assumed = '',
}: Pick<FrozenContent, 'variants' | 'language'>): ((values: Values) => number) | null {
  const numbers = new Map(variants.flatMap(({ language }, at) => (language === undefined ? [] : [[language, at + 1]])));
  return numbers.size === 0 ? null : (values) => numbers.get(contactLanguage(values, assumed)) ?? 0;
}

/**
 * Returns the frozen content of the variant with this number. If the number is 0 or unknown, the variant is A, or in a mail in several
 * languages the version in the language of the contact with these values. `values` is null if there is no contact.
 */
export function frozenVariant<Frozen extends Pick<FrozenContent, 'content' | 'sender_name' | 'variants' | 'language'>>(
  frozen: Frozen,
  variant: number,
  values: Values | null,
): Frozen {
  const number = variant === 0 && values !== null ? (versionFinder(frozen)?.(values) ?? 0) : variant;
  const chosen = frozen.variants?.[number - 1];
  return chosen === undefined
    ? frozen
    : { ...frozen, content: chosen.content, sender_name: chosen.sender_name ?? frozen.sender_name };
}

/** The data from which the mails of a mailing are made, except for the DKIM key. It can be stored as JSON. */
export interface MailingSource {
  id: number;
  user_id: number;
  unsubscribe_group_id: number | null;
  owner_kind: string;
  frozen: FrozenContent;
  /** The current sender; null for the sender as it was when the content was frozen. */
  sender: SenderFacts | null;
  /** The custom fields of the account. */
  names: readonly CustomName[];
  /** The origin of links, without a trailing slash. */
  origin: string;
  /** The domain of return paths; '' if bounces go to the sender's own address. */
  bounceDomain: string;
  /** The key for return paths. */
  secret: string;
  /** The attachments, as `attachedParts` encodes them; absent or empty if there are none. */
  attached?: string;
}

export interface ReadyDeps {
  tokens: Pick<LinkTokens, 'recipient'>;
  /** The newest key of the sender's domain; null if there is none. */
  findKey(): DkimKey | null;
}

/** The part of a claim that rendering reads: the ids and the address of the recipient, and the contact fields that the mail uses. */
export type RenderedClaim = Pick<Claim, 'id' | 'address_id' | 'normalized_email' | ClaimField>;

/** A mailing that is ready to render. */
export interface ReadyMailing {
  /** The contact fields that the mails use. */
  readonly fields: readonly ClaimField[];
  /** Returns the return path of the mail to a claimed recipient. */
  envelopeFrom(claim: Claim): string;
  /** Renders the whole message for a claimed recipient with this date, into `buffer` if that is large enough. */
  render(claim: RenderedClaim, to: string, date: Date, buffer?: Buffer): MailData;
  /** Renders the message with its DKIM signature, which is made in the thread pool; null if the sender's domain has no key. */
  renderSigned(claim: RenderedClaim, to: string, date: Date): Promise<MailData> | null;
  /** Switches to a newer DKIM key, if there is one. */
  refresh(): void;
  readonly source: MailingSource;
  /** The current signing key. */
  readonly key: DkimKey | null;
}

/** Makes a mailing ready to render. Throws a SaidError if its sender has no valid address. */
export function readyMailing(source: MailingSource, { tokens, findKey }: ReadyDeps): ReadyMailing {
  const { frozen, sender, names, origin, bounceDomain, secret } = source;
  const attached = source.attached ? MailData.of(source.attached) : null;

  const { from_email, reply_to, sender_address } = sender ?? frozen;
  const { sender_name } = frozen.has_own_sender_name ? frozen : (sender ?? frozen);
  // Transactional mail and confirmation mail of forms is not bulk mail, so it has no list headers.
  const isBulk = source.owner_kind !== 'system' && source.owner_kind !== 'form';
  // The displayed domain may be international; the mail and its envelope need the ASCII form.
  const from = asciiAddress(from_email);
  if (from === null) throw new SaidError(sentence('mail_sender_address'));
  const domain = domainOf(from);
  // A mail that is retried keeps its Message-ID, even if the sender has changed.
  const idDomain = domainOf(asciiAddress(frozen.from_email) ?? from);
  const preparedWith = (content: Content, name: string): PreparedMessage =>
    prepare(content, {
      from: { name, address: from },
      replyTo: reply_to === from_email ? null : reply_to,
      constants: { sender_name: name, sender_address },
      bulk: isBulk
        ? {
            listId: `${source.unsubscribe_group_id ?? 0}.${source.user_id}.${domain}`,
            feedbackId: `${source.id}:${source.user_id}:sendlark`,
          }
        : null,
      attached,
    });
  const ofVariantA = preparedWith(frozen.content, sender_name);
  const { variants = [] } = frozen;
  const others = variants.map((variant) => preparedWith(variant.content, variant.sender_name ?? sender_name));
  const placeholders = [frozen, ...variants].flatMap(({ content }) => content.placeholders);
  const findVersion = versionFinder(frozen);
  let key = findKey();
  const ready: ReadyMailing = {
    source,
    get key() {
      return key;
    },
    fields:
      findVersion === null
        ? [...contactFieldsFor(placeholders, names), ...(others.length > 0 ? (['variant'] as const) : [])]
        : contactFieldsFor([...placeholders, ...LANGUAGE_FIELDS], names),
    refresh() {
      key = findKey();
    },
    envelopeFrom: ({ id, normalized_email: email }) =>
      bounceDomain === '' ? from : returnPath(secret, { id, email }, bounceDomain),
    renderSigned(claim, to, date) {
      if (key === null) return null;
      const message = ready.render(claim, to, date);
      return key.signer.signInThreadPool(message.bytes, date).then((field) => message.withField(field));
    },
    render: (claim, to, date, buffer) => {
      const recipientTokens = tokens.recipient({
        delivery: claim.id,
        mailing: source.id,
        address: claim.address_id,
        group: source.unsubscribe_group_id ?? 0,
        user: source.user_id,
        email: claim.normalized_email,
      });
      const preferences = `${origin}/u/${recipientTokens.unsubscribe}`;
      const values = mergeValues(claim, names, to);
      return render(
        others[(findVersion?.(values) ?? Number(claim.variant ?? 0)) - 1] ?? ofVariantA,
        {
          address: to,
          name: values.full_name ?? '',
          values,
          messageId: `${frozen.message_key}.${claim.id}@${idDomain}`,
          date,
          urls: {
            preferences,
            oneClick: preferences,
            webCopy: `${origin}/w/${recipientTokens.web}`,
            open: `${origin}/o/${recipientTokens.open}.gif`,
            click: `${origin}/c/${recipientTokens.click}/`,
          },
        },
        buffer,
      );
    },
  };
  return ready;
}

/** Returns the envelope address of a recipient: the local part as the contact wrote it, the domain in ASCII form. */
export function envelopeAddress({ email, normalized_email: normalized }: RenderedClaim): string {
  const spelling = email ?? normalized;
  return spelling.slice(0, spelling.lastIndexOf('@')) + normalized.slice(normalized.lastIndexOf('@'));
}

/** Returns the domain of a mailing's sender in ASCII form; empty if the address is not valid. */
export function senderDomain(frozen: FrozenContent, sender: SenderFacts | null): string {
  return domainOf(asciiAddress((sender ?? frozen).from_email) ?? '');
}
