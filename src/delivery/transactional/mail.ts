/** Builds transactional mail (RFC 5322, 2045, 2046, 2183, 2231): text, HTML or both, with attachments. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { prepared } from '../../database/prepared.ts';
import type { Attachment } from '../../database/schema/index.ts';
import { foldToOneLine } from '../content/merge.ts';
import { dateField, mailboxField, plainField, unstructuredField } from '../mime/header-fields.ts';
import { MailData } from '../mime/mail-data.ts';
import { quotedPrintable } from '../mime/quoted-printable.ts';
import type { ClaimedMail } from './ledger.ts';

/** The JSON in `transactional_mails.content`: the bodies with their values merged. At least one is not null. */
export interface Bodies {
  html: string | null;
  text: string | null;
}

/** The From and Reply-To details of a mail, with addresses in ASCII form. */
export interface MailSender {
  name: string;
  address: string;
  /** Null: replies go to the sender. */
  replyTo: string | null;
}

/** The size of a piece of an attachment in bytes: a whole number of base64 lines (RFC 2045 6.8: 76 characters for 57 bytes). */
export const PIECE_BYTES = 57 * 8192;
// Quoted-printable and base64 contain neither boundary. Neither boundary is a prefix of the other, because parsers compare only prefixes
// (RFC 2046 5.1.1).
const MIXED = '=_mixed-sendlark';
const ALTERNATIVE = '=_sendlark';

/** What a message is built from, of the columns of a mail. */
type BuiltMail = Pick<
  ClaimedMail,
  'id' | 'utr' | 'name' | 'subject' | 'content' | 'attachments' | 'message_key' | 'message_domain'
>;

/** Builds the whole message to `to`. Yields to other work between two pieces of an attachment. */
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
      : `Content-Type: multipart/alternative; boundary="${ALTERNATIVE}"\r\n\r\n${parts.map((one) => `--${ALTERNATIVE}\r\n${one}`).join('')}--${ALTERNATIVE}--\r\n`;
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
  const pieces = [
    MailData.of(`${head}Content-Type: multipart/mixed; boundary="${MIXED}"\r\n\r\n--${MIXED}\r\n${body}`),
  ];
  for (const [number, attachment] of attachments.entries()) {
    pieces.push(MailData.of(`--${MIXED}\r\n${attachmentFields(attachment)}\r\n`));
    for (let piece = 0; piece * PIECE_BYTES < attachment.size; piece++) {
      pieces.push(MailData.of(base64Lines(readPiece(client, mail.utr, number, piece))));
      await setImmediate();
    }
  }
  pieces.push(MailData.of(`--${MIXED}--\r\n`));
  return MailData.joined(pieces);
}

/** The Message-ID of a mail without its brackets. The `t` distinguishes it from that of a mailing's delivery. */
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
  const bytes = prepared<[string, number, number], { bytes: Buffer }>(
    client,
    'SELECT bytes FROM transactional_pieces WHERE utr = ? AND attachment = ? AND number = ?',
  ).get(utr, attachment, piece)?.bytes;
  if (bytes === undefined) throw new Error(`a piece of an attachment of mail ${utr} is missing`);
  return bytes;
}

function base64Lines(bytes: Buffer): string {
  return bytes.toString('base64').replace(/.{1,76}/g, '$&\r\n');
}

/**
 * The headers of an attachment. A file name that is not plain ASCII is encoded (RFC 2231), with a plain one next to it for clients that
 * know nothing else.
 */
function attachmentFields({ file_name, type }: Attachment): string {
  const plain = file_name.replace(/[^ !#-[\]-~]/g, '_');
  const encoded = encodeURIComponent(file_name).replace(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  const extended = plain === file_name ? '' : `;\r\n filename*=UTF-8''${encoded}`;
  return `Content-Type: ${type}\r\nContent-Disposition: attachment;\r\n filename="${plain}"${extended}\r\nContent-Transfer-Encoding: base64\r\n`;
}
