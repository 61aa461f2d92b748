/** Renders a sent mail again from what was kept of it. The input is plain data, so that another thread can render it. */
import { hash } from 'node:crypto';
import type { Purpose } from '../links/tokens.ts';
import { type AttachedFile, attachedParts } from '../mime/attachments.ts';
import { type DkimKey, dkimKey } from '../mime/dkim.ts';
import type { Claim } from './candidates.ts';
import { type CommonFacts, mailingForms } from './mailings.ts';
import { envelopeAddress, type MailingSource, type RenderedClaim } from './ready-mailing.ts';

/** The JSON in `sent_facts.facts`: the data that several sent mails share. */
export interface SentFacts extends CommonFacts {
  /** The key that signed the mails; null if they were not signed. */
  key: Pick<DkimKey, 'domain' | 'selector'> | null;
  /** True if the mails were sent by a sender node, whose tokens contain the address. */
  is_by_node?: true;
}

/** The JSON in `sent_mails.recipient`. */
export type SentRecipient = Omit<RenderedClaim, 'id'> & Pick<Claim, 'is_unmeasured'>;

/** A sent mail, as it was kept. */
export interface SentMail extends Pick<MailingSource, 'id' | 'user_id' | 'unsubscribe_group_id' | 'owner_kind'> {
  /** The frozen content of its mailing, as JSON. */
  content: string;
  attachments: readonly AttachedFile[];
  common: CommonFacts;
  /** The key that signed the mail; null if the mail was not signed. */
  key: Pick<DkimKey, 'domain' | 'selector' | 'privateKey'> | null;
  delivery: number;
  recipient: SentRecipient;
  /** The tokens in the links of the mail. */
  tokens: Record<Purpose, string>;
  /** The pixel and click URLs that all recipients of the mailing share. */
  urls: { open: string; click: string };
  /** When the mail was rendered, in epoch milliseconds. */
  renderedAt: number;
  /** The SHA-256 of the message that was sent. */
  digest: Uint8Array;
}

/** Returns the message as it was sent, in ASCII; null if it cannot be rendered with the same bytes. */
export function renderSentMail(mail: SentMail): string | null {
  const { content, attachments, common, key, tokens, urls, recipient, delivery, digest, ...ids } = mail;
  const { is_unmeasured, ...values } = recipient;
  const signingKey = key && dkimKey(key.domain, key.selector, key.privateKey);
  const frozen = JSON.parse(content);
  // `bounceDomain` and `secret` are empty, because only the envelope needs them.
  const source = { ...ids, ...common, frozen, bounceDomain: '', secret: '', attached: attachedParts(attachments) };
  const forms = mailingForms(source, urls, { tokens: { recipient: () => tokens }, findKey: () => signingKey });
  const claim = { id: delivery, ...values };
  const date = new Date(mail.renderedAt);
  const ready = is_unmeasured === 1 ? forms.unmeasured : forms.measured;
  const message = ready.render(claim, envelopeAddress(claim), date);
  const { bytes } = signingKey === null ? message : message.withField(signingKey.signer.sign(message.bytes, date));
  return hash('sha256', bytes, 'buffer').equals(digest) ? bytes.toString('latin1') : null;
}
