/** Reads mails as sent (an addition). */
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

/** Returns the message in ASCII. Its links act for its recipient, so users with read access only may not read it. */
export const readSentMail = operation({
  name: 'Read an e-mail exactly as it was sent (addition)',
  description:
    'The bytes that a server accepted for this delivery of a campaign or automation, without the dots that SMTP adds. They are rendered again from the values kept at that time, and compared with the SHA-256 of what was sent. 429: too many e-mails are being shown. 409: the values are not kept (keeps_sent_mails was 0, 90 days are over, or the service was started anew while a sender node had the e-mail), or the bytes would differ.',
  role: 'editor',
  input: Type.Object({ id: identifier('The delivery: kept_mail_id of a timeline or of recipients.') }),
  async run(context, { id }): Promise<string> {
    const delivery = recordId(id);
    const { accountId } = context;
    const kept = findKept(context.db.$client, delivery, accountId);
    if (kept === undefined) throw notFound('Record not found');
    // Its content and files are read only when it is the account's turn, because they take megabytes.
    return inShowingTurn(accountId, () => rendered(context, delivery, kept), context.isGone);
  },
});

/** Returns a kept mail with the bytes that were sent. Throws 409 if that cannot be done. */
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

interface MailingColumns extends Pick<SentMail, 'id' | 'user_id' | 'unsubscribe_group_id' | 'owner_kind'> {
  normalized_email: string;
}

interface KeptColumns {
  facts: string;
  recipient: string;
  renderedAt: number;
  digest: Buffer;
}

/** A delivery of the account, with what was kept of its mail; null if nothing was. */
type KeptDelivery = MailingColumns & (KeptColumns | { [Column in keyof KeptColumns]: null });

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

/** Returns a kept mail with all that rendering needs; null if nothing was kept of it, or its key was deleted. */
function sentMailOf(
  { db, tokens }: Context,
  delivery: number,
  { normalized_email, ...kept }: KeptDelivery,
): SentMail | null {
  if (kept.recipient === null) return null;
  const { facts, recipient: values, ...mailing } = kept;
  const { key: named, is_by_node, ...common }: SentFacts = JSON.parse(facts);
  const key = named === null ? null : findKey(db.$client, named);
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

function findKey(client: Database, { domain, selector }: NonNullable<SentFacts['key']>): SentMail['key'] | undefined {
  const privateKey = client
    .prepare<[string, string], { private_key: string }>(
      'SELECT private_key FROM dkim_keys WHERE domain = ? AND selector = ?',
    )
    .get(domain, selector)?.private_key;
  return privateKey === undefined ? undefined : { domain, selector, privateKey };
}

/** The frozen content of a mailing, and its attachments. */
function readContent(client: Database, mailing: number): Pick<SentMail, 'content' | 'attachments'> {
  const { content = '', ids = '[]' } =
    client
      .prepare<[number], { content: string; ids: string | null }>(
        "SELECT content, content ->> '$.attachments' AS ids FROM mailings WHERE id = ?",
      )
      .get(mailing) ?? {};
  return { content, attachments: readAttachments(client, JSON.parse(ids ?? '[]')) };
}
