/** The operation that reads a mail exactly as it was sent (an addition to the contract). */
import type { Database } from 'better-sqlite3';
import Type from 'typebox';
import { recordId } from '../../database/ownership.ts';
import { renderAgain } from '../../delivery/compiling/show.ts';
import { ContentError } from '../../delivery/content/compiled-content.ts';
import { linkSecrets } from '../../delivery/links/secrets.ts';
import { sharedUrls } from '../../delivery/links/shared-links.ts';
import { createNodeTokens } from '../../delivery/links/tokens.ts';
import { readAttachments } from '../../delivery/queue/attachments.ts';
import type { SentFacts, SentMail, SentRecipient } from '../../delivery/queue/sent-mail.ts';
import { conflict, notFound } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { inShowingTurn } from '../../http/account-share.ts';
import { identifier } from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';

/** Returns the message in ASCII. The links in the message act for its recipient, so users with the read-only role may not read it. */
export const readSentMail = operation({
  name: 'Read an e-mail exactly as it was sent (addition)',
  description:
    'Returns the bytes that an SMTP server accepted for this delivery of a campaign or automation, without the dots that SMTP adds. The e-mail is rendered again from the values that were kept when it was sent, and compared with the SHA-256 of the sent e-mail. 429: too many e-mails are being shown. 409: the values are not kept (keeps_sent_mails was 0, 90 days are over, or the service was restarted while a sender node had the e-mail), or the bytes would differ.',
  role: 'editor',
  input: Type.Object({ id: identifier('The delivery: the kept_mail_id in a timeline or in a list of recipients.') }),
  async run(context, { id }): Promise<string> {
    const delivery = recordId(id);
    const { accountId } = context;
    const kept = findKept(context.db.$client, delivery, accountId);
    if (kept === undefined) throw notFound('Record not found');
    // The content and the attachments can have megabytes, so they are read only when it is the account's turn.
    return inShowingTurn(accountId, () => rendered(context, delivery, kept), context.isGone);
  },
});

/** Renders a kept mail again. Throws 409 if its values are not kept, or the result differs from the sent mail. */
async function rendered(context: Context, delivery: number, kept: KeptDelivery): Promise<string> {
  const mail = sentMailOf(context, delivery, kept);
  if (mail === null) throw conflict(sentence('sent_mail_not_kept'));
  const raw = await renderAgain(context.accountId, mail).catch((error: unknown) => {
    if (error instanceof ContentError) return null;
    throw error;
  });
  if (raw === null) throw conflict(sentence('sent_mail_changed'));
  return raw;
}

/** The mailing and the address of a delivery. */
interface MailingColumns extends Pick<SentMail, 'id' | 'user_id' | 'unsubscribe_group_id' | 'owner_kind'> {
  normalized_email: string;
}

/** The values that were kept when the mail of a delivery was sent. */
interface KeptColumns {
  /** `SentFacts` as JSON. */
  facts: string;
  /** `SentRecipient` as JSON. */
  recipient: string;
  /** Epoch milliseconds. */
  renderedAt: number;
  /** The SHA-256 of the sent mail. */
  digest: Buffer;
}

/** A delivery of the account. The kept columns are null if nothing was kept of its mail. */
type KeptDelivery = MailingColumns & (KeptColumns | { [Column in keyof KeptColumns]: null });

/** Returns a delivery with the values that were kept of its mail; undefined if the account has no such delivery. */
function findKept(client: Database, delivery: number, accountId: number): KeptDelivery | undefined {
  return client
    .prepare<[number, number], KeptDelivery>(`
     SELECT m.id, m.user_id, m.unsubscribe_group_id, m.owner_kind, a.normalized_email,
       f.facts, s.recipient, s.rendered_at AS renderedAt, s.digest
     FROM deliveries d JOIN mailings m ON m.id = d.mailing_id JOIN addresses a ON a.id = d.address_id
       LEFT JOIN (sent_mails s JOIN sent_facts f ON f.id = s.facts_id) ON s.delivery_id = d.id
     WHERE d.id = ? AND m.user_id = ?`)
    .get(delivery, accountId);
}

/** Returns a kept mail with everything that rendering needs; null if nothing was kept of the mail, or its DKIM key was deleted. */
function sentMailOf(
  { db, tokens }: Context,
  delivery: number,
  { normalized_email, ...kept }: KeptDelivery,
): SentMail | null {
  if (kept.recipient === null) return null;
  const { facts, recipient: values, ...mailing } = kept;
  const { key: keyName, is_by_node, ...common }: SentFacts = JSON.parse(facts);
  const key = keyName === null ? null : findKey(db.$client, keyName);
  if (key === undefined) return null;
  const recipient: SentRecipient = JSON.parse(values);
  const { id, user_id: user, unsubscribe_group_id: group } = mailing;
  const ids = {
    delivery,
    mailing: id,
    address: recipient.address_id,
    group: group ?? 0,
    user,
    email: normalized_email,
  };
  return {
    ...mailing,
    ...readContent(db.$client, id),
    common,
    key,
    delivery,
    recipient,
    tokens: (is_by_node ? createNodeTokens(linkSecrets(db.$client)) : tokens).recipient(ids),
    urls: sharedUrls(tokens, ids, common.origin),
  };
}

/** Returns the DKIM key of a domain with this selector; undefined if it was deleted. */
function findKey(client: Database, { domain, selector }: NonNullable<SentFacts['key']>): SentMail['key'] | undefined {
  const privateKey = client
    .prepare<[string, string], { private_key: string }>(
      'SELECT private_key FROM dkim_keys WHERE domain = ? AND selector = ?',
    )
    .get(domain, selector)?.private_key;
  return privateKey === undefined ? undefined : { domain, selector, privateKey };
}

/** Reads the frozen content of a mailing, and its attachments. */
function readContent(client: Database, mailing: number): Pick<SentMail, 'content' | 'attachments'> {
  const { content = '', ids = '[]' } =
    client
      .prepare<[number], { content: string; ids: string | null }>(
        "SELECT content, content ->> '$.attachments' AS ids FROM mailings WHERE id = ?",
      )
      .get(mailing) ?? {};
  return { content, attachments: readAttachments(client, JSON.parse(ids ?? '[]')) };
}
