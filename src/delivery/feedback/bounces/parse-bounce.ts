/** Tells what a mail to one of our return paths is: delivery report, complaint, automatic answer, or none of these. */
import PostalMime, { type Attachment, type Email } from 'postal-mime';
import type { Verdict } from './classify.ts';
import { MAX_ADDRESS_LENGTH, overallVerdict, type RecipientReport, readDeliveryStatus } from './delivery-status.ts';
import { fieldGroups } from './field-groups.ts';
import { readEximNotice, readQmailNotice } from './plain-notices.ts';
import { sanitizeText } from './sanitize.ts';

/** What a mail reports. Message-IDs are without their angle brackets, and null where the original is not enclosed. */
export type BounceReport =
  | {
      kind: 'status';
      recipients: RecipientReport[];
      /** What it means for our delivery; null when nothing failed. */
      verdict: Verdict | null;
      originalMessageId: string | null;
    }
  | {
      kind: 'complaint';
      /** As in the report: `abuse`, `fraud`, … */
      feedbackType: string;
      /** Whom the complaint is from, where it says so. */
      recipient: string | null;
      /** Our return path of the mail complained about, where it says so: leads to the delivery. */
      originalSender: string | null;
      originalMessageId: string | null;
    }
  | { kind: 'auto-reply' }
  | { kind: 'unknown' };

/** What is needed stands near the top. These bound the work: the parser takes some 20 µs a line however short. */
export const MOST_BYTES = 512 * 1024;
const MOST_LINES = 4000;
const LIMITS = { maxNestingDepth: 20, maxHeadersSize: 64 * 1024, forceRfc822Attachments: true };

const STATUS_TYPES = ['message/delivery-status', 'message/global-delivery-status'];
const ORIGINAL_TYPES = ['message/rfc822', 'text/rfc822-headers', 'message/global', 'message/global-headers'];
const RECEIPT_TYPES = ['message/disposition-notification', 'message/global-disposition-notification'];
/** The types that say a person did not want the mail (RFC 5965 §7.3); `not-spam` and `auth-failure` say no such thing. */
const COMPLAINTS = ['abuse', 'fraud', 'opt-out', 'opt-out-list', 'other'];

/**
 * Reads a mail as it came; `from` is its envelope sender, empty for the null sender. Reports are RFC 3464 (and 6533) and RFC 5965;
 * notices in plain text count only from the null sender, and an automatic answer (RFC 3834) is never a bounce. Mail that is broken
 * or beyond the limits is `unknown`; never rejects.
 */
export async function parseBounce({ raw, from }: { raw: Buffer; from: string }): Promise<BounceReport> {
  let mail: Email;
  try {
    mail = await PostalMime.parse(topOf(raw), LIMITS);
  } catch {
    return { kind: 'unknown' };
  }
  const status = textOf(mail, STATUS_TYPES);
  if (status !== null) return statusReport(readDeliveryStatus(status), mail);
  const feedback = textOf(mail, ['message/feedback-report']);
  if (feedback !== null) return complaint(feedback, mail);
  if (textOf(mail, RECEIPT_TYPES) !== null) return { kind: 'auto-reply' };
  const failedRecipients = headerOf(mail, 'x-failed-recipients');
  if (failedRecipients !== '' && from === '')
    return statusReport(readEximNotice(failedRecipients, mail.text ?? ''), mail);
  if (isAutomatic(mail)) return { kind: 'auto-reply' };
  return statusReport(from === '' ? readQmailNotice(mail.text ?? '') : [], mail);
}

function statusReport(recipients: RecipientReport[], mail: Email): BounceReport {
  if (recipients.length === 0) return { kind: 'unknown' };
  const originalMessageId = messageId(originalHead(mail).get('message-id'));
  return { kind: 'status', recipients, verdict: overallVerdict(recipients), originalMessageId };
}

function complaint(feedback: string, mail: Email): BounceReport {
  const [fields = new Map<string, string>()] = fieldGroups(feedback);
  const feedbackType = fields.get('feedback-type')?.toLowerCase() ?? '';
  if (!COMPLAINTS.includes(feedbackType)) return { kind: 'unknown' };
  const original = originalHead(mail);
  return {
    kind: 'complaint',
    feedbackType,
    recipient: address(fields.get('original-rcpt-to')),
    originalSender: address(fields.get('original-mail-from')) ?? address(original.get('return-path')),
    originalMessageId: messageId(original.get('message-id')),
  };
}

/** RFC 3834 §5 and what came before it. */
function isAutomatic(mail: Email): boolean {
  const submitted = headerOf(mail, 'auto-submitted').toLowerCase();
  if (submitted !== '') return !/^no\b/.test(submitted);
  if (headerOf(mail, 'x-autoreply') !== '' || headerOf(mail, 'x-autorespond') !== '') return true;
  return /^(?:auto[_-]?reply|bulk|junk|list)\b/i.test(headerOf(mail, 'precedence'));
}

function topOf(raw: Buffer): Buffer {
  let end = 0;
  for (let line = 0; line < MOST_LINES && end < MOST_BYTES; line++) {
    const next = raw.indexOf(0x0a, end);
    if (next === -1) return raw.subarray(0, MOST_BYTES);
    end = next + 1;
  }
  return raw.subarray(0, Math.min(end, MOST_BYTES));
}

/** The text of the first part of one of these types, or null. */
function textOf({ attachments }: Email, types: readonly string[]): string | null {
  const part = attachments.find(({ mimeType }) => types.includes(mimeType));
  return part === undefined ? null : decode(part);
}

function decode({ content }: Attachment): string {
  return typeof content === 'string' ? content : new TextDecoder().decode(content);
}

function headerOf({ headers }: Email, name: string): string {
  return headers.find(({ key }) => key === name)?.value ?? '';
}

/** The head of the mail that is reported about. */
function originalHead(mail: Email): ReadonlyMap<string, string> {
  const [head = new Map<string, string>()] = fieldGroups(textOf(mail, ORIGINAL_TYPES) ?? '');
  return head;
}

function messageId(field: string | undefined): string | null {
  return /<([\w.+=$-]{1,200}@[\w.-]{1,250})>/.exec(field?.slice(0, 1000) ?? '')?.[1] ?? null;
}

function address(field: string | undefined): string | null {
  const bare = (field ?? '').slice(0, 500).replace(/^\s*<|>\s*$/g, '');
  const text = sanitizeText(bare.replace(/^rfc822;/i, '').slice(0, MAX_ADDRESS_LENGTH));
  return text === '' ? null : text;
}
