/** Classifies mail to a return path or a role address: delivery report, complaint, automatic reply, or unknown. */
import PostalMime, { type Attachment, type Email } from 'postal-mime';
import type { Verdict } from '../../replies/classify.ts';
import {
  fieldGroups,
  MAX_ADDRESS_LENGTH,
  overallVerdict,
  type RecipientReport,
  readDeliveryStatus,
  readEximNotice,
  readQmailNotice,
} from './recipient-reports.ts';
import { sanitizeText } from './sanitize.ts';

/** What a mail reports. Message-IDs have no angle brackets, and are null if the original mail is not enclosed. */
export type BounceReport =
  | {
      kind: 'status';
      recipients: RecipientReport[];
      /** The outcome for our delivery; null if nothing failed. */
      verdict: Verdict | null;
      originalMessageId: string | null;
    }
  | {
      kind: 'complaint';
      /** The Feedback-Type of the report: `abuse`, `fraud` and so on. */
      feedbackType: string;
      /** The recipient who complained, if reported. */
      recipient: string | null;
      /** The return path of the original mail, if reported; it identifies the delivery. */
      originalSender: string | null;
      originalMessageId: string | null;
      /** The token in the original mail's List-Unsubscribe URL, if present. */
      unsubscribeToken: string | null;
    }
  | { kind: 'auto-reply' }
  | { kind: 'unknown' };

/** Only the start of a mail, which contains the report, is parsed, because the parser takes about 20 µs per line, however short. */
export const MAX_PARSED_BYTES = 512 * 1024;
const MAX_PARSED_LINES = 4000;
/** The maximum number of characters of a field that are searched. */
const MAX_FIELD = 4000;
const LIMITS = { maxNestingDepth: 20, maxHeadersSize: 64 * 1024, forceRfc822Attachments: true };

const STATUS_TYPES = ['message/delivery-status', 'message/global-delivery-status'];
const ORIGINAL_TYPES = ['message/rfc822', 'text/rfc822-headers', 'message/global', 'message/global-headers'];
const FEEDBACK_TYPES = ['message/feedback-report'];
const RECEIPT_TYPES = ['message/disposition-notification', 'message/global-disposition-notification'];
/** Matches the URL in our List-Unsubscribe header (RFC 8058), on any host. */
const UNSUBSCRIBE_LINK = /https?:\/\/[^\s<>]{1,300}\/u\/([\w.~-]{1,1000})/;
/** The feedback types of complaints (RFC 5965 §7.3); `not-spam` and `auth-failure` are not complaints. */
const COMPLAINTS = ['abuse', 'fraud', 'opt-out', 'opt-out-list', 'other'];

/**
 * Parses a mail; `from` is its envelope sender, empty for the null sender. Reports follow RFC 3464 (and 6533) or RFC 5965. Plain-text
 * notices count only if they come from the null sender, and an automatic reply (RFC 3834) is never a bounce. Returns `unknown` for
 * malformed mail and mail that exceeds the limits. Never rejects.
 */
export async function parseBounce({ raw, from }: { raw: Buffer; from: string }): Promise<BounceReport> {
  const mail = await parseMail(raw);
  return mail === null ? { kind: 'unknown' } : reportOf(mail, from);
}

/** What a mail to a role address reports, and its text for an operator: not sanitized and of any length. */
export interface RoleMail {
  report: BounceReport;
  sender: string;
  subject: string;
  text: string;
}

/**
 * Parses a mail to a role address. Returns null if it is malformed or exceeds the limits. `isLoop` is true if the mail came to the
 * feedback-loop address, where some providers forward the reported mail as an attachment without a report.
 */
export async function parseRoleMail(
  received: { raw: Buffer; from: string },
  isLoop: boolean,
): Promise<RoleMail | null> {
  const mail = await parseMail(received.raw);
  if (mail === null) return null;
  const reported = reportOf(mail, received.from);
  const isForwarded = isLoop && reported.kind === 'unknown' && partText(mail, ORIGINAL_TYPES) !== null;
  const report = isForwarded && partText(mail, FEEDBACK_TYPES) === null ? complaintReport('', mail) : reported;
  const parts = [mail.text ?? mail.html?.replace(/<[^<>]*>/g, ' ') ?? '', partText(mail, FEEDBACK_TYPES) ?? ''];
  const sender = headerField(mail, 'from');
  return { report, sender, subject: mail.subject ?? '', text: parts.filter((part) => part !== '').join('\n') };
}

/** Parses the start of a mail. Returns null for malformed mail and mail that exceeds the limits. */
async function parseMail(raw: Buffer): Promise<Email | null> {
  try {
    return await PostalMime.parse(truncate(raw), LIMITS);
  } catch {
    return null;
  }
}

function reportOf(mail: Email, from: string): BounceReport {
  const status = partText(mail, STATUS_TYPES);
  if (status !== null) return statusReport(readDeliveryStatus(status), mail);
  const feedback = partText(mail, FEEDBACK_TYPES);
  if (feedback !== null) return feedbackReport(feedback, mail);
  if (partText(mail, RECEIPT_TYPES) !== null) return { kind: 'auto-reply' };
  const failedRecipients = headerField(mail, 'x-failed-recipients');
  if (failedRecipients !== '' && from === '')
    return statusReport(readEximNotice(failedRecipients, mail.text ?? ''), mail);
  if (isAutomatic(mail)) return { kind: 'auto-reply' };
  return statusReport(from === '' ? readQmailNotice(mail.text ?? '') : [], mail);
}

function statusReport(recipients: RecipientReport[], mail: Email): BounceReport {
  if (recipients.length === 0) return { kind: 'unknown' };
  const originalMessageId = readMessageId(originalHeader(mail).get('message-id'));
  return { kind: 'status', recipients, verdict: overallVerdict(recipients), originalMessageId };
}

function feedbackReport(feedback: string, mail: Email): BounceReport {
  const [fields = new Map<string, string>()] = fieldGroups(feedback);
  return COMPLAINTS.includes(fields.get('feedback-type')?.toLowerCase() ?? '')
    ? complaintReport(feedback, mail)
    : { kind: 'unknown' };
}

/** Returns the complaint about the enclosed mail. `feedback` is the text of the report; empty if there is none. */
function complaintReport(feedback: string, mail: Email): BounceReport {
  const [fields = new Map<string, string>()] = fieldGroups(feedback);
  const original = originalHeader(mail);
  return {
    kind: 'complaint',
    feedbackType: fields.get('feedback-type')?.toLowerCase() ?? 'other',
    recipient: complaintAddress(fields.get('original-rcpt-to')),
    originalSender: complaintAddress(fields.get('original-mail-from')) ?? complaintAddress(original.get('return-path')),
    originalMessageId: readMessageId(original.get('message-id')),
    unsubscribeToken: UNSUBSCRIBE_LINK.exec(original.get('list-unsubscribe')?.slice(0, MAX_FIELD) ?? '')?.[1] ?? null,
  };
}

/** Returns true if the headers mark an automatic reply, by RFC 3834 §5 or by older conventions. */
function isAutomatic(mail: Email): boolean {
  const submitted = headerField(mail, 'auto-submitted').toLowerCase();
  if (submitted !== '') return !/^no\b/.test(submitted);
  if (headerField(mail, 'x-autoreply') !== '' || headerField(mail, 'x-autorespond') !== '') return true;
  return /^(?:auto[_-]?reply|bulk|junk|list)\b/i.test(headerField(mail, 'precedence'));
}

function truncate(raw: Buffer): Buffer {
  let end = 0;
  for (let line = 0; line < MAX_PARSED_LINES && end < MAX_PARSED_BYTES; line++) {
    const next = raw.indexOf(0x0a, end);
    if (next === -1) return raw.subarray(0, MAX_PARSED_BYTES);
    end = next + 1;
  }
  return raw.subarray(0, Math.min(end, MAX_PARSED_BYTES));
}

/** Returns the text of the first part that has one of these types; null if there is none. */
function partText({ attachments }: Email, types: readonly string[]): string | null {
  const part = attachments.find(({ mimeType }) => types.includes(mimeType));
  return part === undefined ? null : decode(part);
}

function decode({ content }: Attachment): string {
  return typeof content === 'string' ? content : new TextDecoder().decode(content);
}

function headerField({ headers }: Email, name: string): string {
  return headers.find(({ key }) => key === name)?.value ?? '';
}

/** Returns the header fields of the original mail that is enclosed in the report. */
function originalHeader(mail: Email): ReadonlyMap<string, string> {
  const [head = new Map<string, string>()] = fieldGroups(partText(mail, ORIGINAL_TYPES) ?? '');
  return head;
}

function readMessageId(field: string | undefined): string | null {
  return /<([\w.+=$-]{1,200}@[\w.-]{1,250})>/.exec(field?.slice(0, MAX_FIELD) ?? '')?.[1] ?? null;
}

function complaintAddress(field: string | undefined): string | null {
  const bare = (field ?? '').slice(0, MAX_FIELD).replace(/^\s*<|>\s*$/g, '');
  const text = sanitizeText(bare.replace(/^rfc822;/i, '').slice(0, MAX_ADDRESS_LENGTH));
  return text === '' ? null : text;
}
