/** Builds transactional mail (RFC 5322, 2045, 2046): text, HTML or both, with attachments. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import type { Attachment } from '../../database/schema/index.ts';
import { foldToOneLine } from '../content/merge.ts';
import { attachmentStart, base64Lines, MIXED_END, MIXED_START, PIECE_BYTES } from '../mime/attachments.ts';
import { dateField, mailboxField, plainField, unstructuredField } from '../mime/header-fields.ts';
import { MailData } from '../mime/mail-data.ts';
import { quotedPrintable } from '../mime/quoted-printable.ts';
import type { ClaimedMail } from './ledger.ts';

/** The JSON in `transactional_mails.content`: the bodies with their values merged. At least one of them is not null. */
export interface Bodies {
  html: string | null;
  text: string | null;
}

/** The From and Reply-To details of a mail, with addresses in ASCII form. */
export interface MailSender {
  name: string;
  address: string;
  /** The address for replies; null if replies go to the sender. */
  replyTo: string | null;
}

// Quoted-printable does not contain the boundary.
const ALTERNATIVE = '=_sendlark';

type BuiltMail = Pick<
  ClaimedMail,
  'id' | 'utr' | 'name' | 'subject' | 'content' | 'attachments' | 'message_key' | 'message_domain'
>;

/** Builds the whole message for the address `to`. Yields to other work between two pieces of an attachment. */
export async function buildMail(
  client: Database,
  mail: BuiltMail,
  { sender, to, date }: { sender: MailSender; to: string; date: Date },
): Promise<MailData> {
  const attachments: Attachment[] = JSON.parse(mail.attachments);
  const { html, text }: Bodies = JSON.parse(mail.content);
  const parts = [text === null ? '' : part('plain', text), html === null ? '' : part('html', html)].filter(Boolean);
  const [only = ''] = parts;
  const body =
    parts.length === 1
      ? only
      : `Content-Type: multipart/alternative; boundary="${ALTERNATIVE}"\r\n\r\n${parts.map((part) => `--${ALTERNATIVE}\r\n${part}`).join('')}--${ALTERNATIVE}--\r\n`;
  const { name, address, replyTo } = sender;
  const head = [
    mailboxField('From', foldToOneLine(name), address),
    mailboxField('To', foldToOneLine(mail.name), to),
    replyTo === null ? '' : mailboxField('Reply-To', '', replyTo),
    unstructuredField('Subject', mail.subject),
    dateField(date),
    plainField('Message-ID', `<${messageId(mail)}>`),
    'Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n',
  ].join('');
  if (attachments.length === 0) return MailData.of(head + body);
  const pieces = [MailData.of(`${head}${MIXED_START}${body}`)];
  for (const [number, attachment] of attachments.entries()) {
    pieces.push(MailData.of(attachmentStart(attachment)));
    for (let piece = 0; piece * PIECE_BYTES < attachment.size; piece++) {
      pieces.push(MailData.of(base64Lines(readPiece(client, mail.utr, number, piece))));
      await setImmediate();
    }
  }
  pieces.push(MailData.of(MIXED_END));
  return MailData.joined(pieces);
}

/** Returns the Message-ID of a mail without brackets. The `t` distinguishes it from the Message-ID of a mailing's delivery. */
export function messageId({
  id,
  message_key,
  message_domain,
}: Pick<ClaimedMail, 'id' | 'message_key' | 'message_domain'>): string {
  return `${message_key}.t${id}@${message_domain}`;
}

function part(subtype: 'plain' | 'html', text: string): string {
  const encoded = quotedPrintable(text);
  return `Content-Type: text/${subtype}; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${encoded}\r\n`;
}

function readPiece(client: Database, utr: string, attachment: number, piece: number): Buffer {
  const bytes = client
    .prepare<[string, number, number], { bytes: Buffer }>(
      'SELECT bytes FROM transactional_pieces WHERE utr = ? AND attachment = ? AND number = ?',
    )
    .get(utr, attachment, piece)?.bytes;
  if (bytes === undefined) throw new Error(`a piece of an attachment of mail ${utr} is missing`);
  return bytes;
}
