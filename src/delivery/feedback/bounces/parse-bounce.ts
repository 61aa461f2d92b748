/** Classifies a mail to one of our return paths or to a role address: delivery report, complaint, automatic reply, or unknown. */
import PostalMime, { type Attachment, type Email } from 'postal-mime';
import { classifyFinal, readRefusal, type Verdict } from '../../replies/classify.ts';
import { sanitizeText } from './sanitize.ts';

/** What a mail reports. Message-IDs are without angle brackets, and null if the original is not enclosed. */
export type BounceReport =
  | {
      kind: 'status';
      recipients: RecipientReport[];
      /** The verdict on our delivery; null if nothing failed. */
      verdict: Verdict | null;
      originalMessageId: string | null;
    }
  | {
      kind: 'complaint';
      /** As in the report: `abuse`, `fraud` and so on. */
      feedbackType: string;
      /** The recipient who complained, if reported. */
      recipient: string | null;
      /** Our return path of the mail in question, if reported; it identifies the delivery. */
      originalSender: string | null;
      originalMessageId: string | null;
      /** The token of its link to unsubscribe, if the header has one. */
      unsubscribeToken: string | null;
    }
  | { kind: 'auto-reply' }
  | { kind: 'unknown' };

/** Only the start of a mail is parsed, which contains the report: the parser takes some 20 µs for each line, however short. */
export const MAX_PARSED_BYTES = 512 * 1024;
const MAX_PARSED_LINES = 4000;
const LIMITS = { maxNestingDepth: 20, maxHeadersSize: 64 * 1024, forceRfc822Attachments: true };

const STATUS_TYPES = ['message/delivery-status', 'message/global-delivery-status'];
const ORIGINAL_TYPES = ['message/rfc822', 'text/rfc822-headers', 'message/global', 'message/global-headers'];
const FEEDBACK_TYPES = ['message/feedback-report'];
const RECEIPT_TYPES = ['message/disposition-notification', 'message/global-disposition-notification'];
/** Our link in List-Unsubscribe (RFC 8058), whatever address it has. */
const UNSUBSCRIBE_LINK = /https?:\/\/[^\s<>]{1,300}\/u\/([\w.~-]{1,1000})/;
/** The types for mail a person did not want (RFC 5965 §7.3); `not-spam` and `auth-failure` are no complaints. */
const COMPLAINTS = ['abuse', 'fraud', 'opt-out', 'opt-out-list', 'other'];

/**
 * Parses a mail; `from` is its envelope sender, empty for the null sender. Reports follow RFC 3464 (and 6533) or RFC 5965.
 * Notices in plain text count only from the null sender, and an automatic reply (RFC 3834) is never a bounce. Malformed mail
 * and mail beyond the limits is `unknown`. Never rejects.
 */
export async function parseBounce({ raw, from }: { raw: Buffer; from: string }): Promise<BounceReport> {
  const mail = await parseMail(raw);
  return mail === null ? { kind: 'unknown' } : reportOf(mail, from);
}

/** What a mail to a role address reports, and its text for people, unsafe and of any length. */
export interface RoleMail {
  report: BounceReport;
  sender: string;
  subject: string;
  text: string;
}

/**
 * Parses a mail to a role address; null when it is malformed or beyond the limits. `isLoop`: it came to the address of feedback loops,
 * where some providers forward the mail in question as an attachment, without a report.
 */
export async function parseRoleMail(given: { raw: Buffer; from: string }, isLoop: boolean): Promise<RoleMail | null> {
  const mail = await parseMail(given.raw);
  if (mail === null) return null;
  const reported = reportOf(mail, given.from);
  const isForwarded = isLoop && reported.kind === 'unknown' && partText(mail, ORIGINAL_TYPES) !== null;
  const report = isForwarded && partText(mail, FEEDBACK_TYPES) === null ? complaint('', mail) : reported;
  const parts = [mail.text ?? mail.html?.replace(/<[^<>]*>/g, ' ') ?? '', partText(mail, FEEDBACK_TYPES) ?? ''];
  const sender = headerField(mail, 'from');
  return { report, sender, subject: mail.subject ?? '', text: parts.filter((part) => part !== '').join('\n') };
}

/** Null for malformed mail and mail beyond the limits. */
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
  const originalMessageId = messageId(originalHeader(mail).get('message-id'));
  return { kind: 'status', recipients, verdict: overallVerdict(recipients), originalMessageId };
}

function feedbackReport(feedback: string, mail: Email): BounceReport {
  const [fields = new Map<string, string>()] = fieldGroups(feedback);
  return COMPLAINTS.includes(fields.get('feedback-type')?.toLowerCase() ?? '')
    ? complaint(feedback, mail)
    : { kind: 'unknown' };
}

/** The complaint about the mail that is enclosed; `feedback` is the report, empty where there is none. */
function complaint(feedback: string, mail: Email): BounceReport {
  const [fields = new Map<string, string>()] = fieldGroups(feedback);
  const original = originalHeader(mail);
  return {
    kind: 'complaint',
    feedbackType: fields.get('feedback-type')?.toLowerCase() ?? 'other',
    recipient: address(fields.get('original-rcpt-to')),
    originalSender: address(fields.get('original-mail-from')) ?? address(original.get('return-path')),
    originalMessageId: messageId(original.get('message-id')),
    unsubscribeToken: UNSUBSCRIBE_LINK.exec(original.get('list-unsubscribe')?.slice(0, 4000) ?? '')?.[1] ?? null,
  };
}

/** Whether the header marks an automatic reply, by RFC 3834 §5 or by older fields. */
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

/** The text of the first part of one of these types, or null. */
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

/** The header fields of the original mail enclosed in the report. */
function originalHeader(mail: Email): ReadonlyMap<string, string> {
  const [head = new Map<string, string>()] = fieldGroups(partText(mail, ORIGINAL_TYPES) ?? '');
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

/** The first words of qmail's notice (https://cr.yp.to/proto/qsbmf.txt) and of two former notices of Yahoo. */
const INTRODUCTION =
  /^(?:Hi\. This is the|(?:Message from {1,3}[\w.-]{1,255}\r?\n)?Unable to deliver message to the following address|Sorry, we were unable to deliver your message to the following address)/;

/**
 * Parses qmail's notice and Yahoo's former one of the same form: an introduction, a paragraph for each failed recipient, and a
 * paragraph that begins with a hyphen (in Japan with an equals sign). Returns an empty list for any other text.
 */
function readQmailNotice(text: string): RecipientReport[] {
  const paragraphs = text.split(/\r?\n[ \t]*\r?\n/, MAX_RECIPIENTS + 1);
  if (!INTRODUCTION.test(paragraphs[0] ?? '')) return [];
  const end = paragraphs.findIndex((paragraph) => /^[-=]/.test(paragraph));
  return paragraphs.slice(1, end === -1 ? undefined : end).flatMap((paragraph) => {
    const [, recipient = '', said = ''] = /^<([^>]{1,320})>:\s*(.*)$/s.exec(paragraph.slice(0, 3000)) ?? [];
    const status = /\(#([245]\.\d{1,3}\.\d{1,3})\)/.exec(said)?.[1] ?? null;
    return recipient === '' ? [] : [failedReport(recipient, status, said)];
  });
}

/**
 * Parses the notice that Exim sent before it wrote delivery reports: the failed addresses are in the field X-Failed-Recipients,
 * which warnings of a delay do not have, and the reason is in the text after each address.
 */
function readEximNotice(failedRecipients: string, text: string): RecipientReport[] {
  return failedRecipients
    .slice(0, 320 * MAX_RECIPIENTS)
    .split(',', MAX_RECIPIENTS)
    .map((address) => address.trim())
    .filter((address) => address.includes('@'))
    .map((address) => {
      const at = text.indexOf(address);
      const said = at === -1 ? '' : text.slice(at + address.length, at + address.length + 2000);
      return failedReport(address, null, said.split(/\n[ \t]*\r?\n/, 1)[0] ?? '');
    });
}

const ACTIONS = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const;

/** One recipient of a report. Every text is sanitized and of bounded length. */
export interface RecipientReport {
  kind: (typeof ACTIONS)[number];
  /** The final recipient as reported, which need not be the address we wrote to. */
  recipient: string | null;
  /** Enhanced status code, such as `5.1.1`. */
  status: string | null;
  /** The refusing server's reply; may be empty. */
  diagnostic: string;
  /** Only for `failed`. */
  verdict: Verdict | null;
}

/** Each of our mails has one recipient. A report names several if that is an alias; recipients beyond this number are ignored. */
export const MAX_RECIPIENTS = 100;
/** The longest local part, `@` and the longest domain (RFC 5321 §4.5.3.1). */
export const MAX_ADDRESS_LENGTH = 320;

/** The recipients in a `message/delivery-status` text, at most 100. A group without a known Action is skipped. */
export function readDeliveryStatus(text: string): RecipientReport[] {
  const recipients: RecipientReport[] = [];
  for (const fields of fieldGroups(text)) {
    if (recipients.length === MAX_RECIPIENTS) break;
    const action = /^[a-z]*/.exec((fields.get('action') ?? '').toLowerCase())?.[0];
    const kind = ACTIONS.find((known) => known === action);
    if (kind !== undefined) recipients.push(recipientReport(kind, fields));
  }
  return recipients;
}

/** The report of a failed recipient, judged by what the server `said`, or by the reported `status` if that is not clear. */
export function failedReport(recipient: string | null, status: string | null, said: string): RecipientReport {
  const refusal = readRefusal(said);
  // The refusing server's own code is more reliable than the reporting server's reading of it.
  const isSpecific = refusal.enhanced !== null && !refusal.enhanced.endsWith('.0.0');
  const enhanced = (isSpecific ? refusal.enhanced : status) ?? '5.0.0';
  return {
    kind: 'failed',
    recipient: recipient === null ? null : sanitizeText(recipient.slice(0, MAX_ADDRESS_LENGTH)),
    status: status ?? refusal.enhanced,
    diagnostic: sanitizeText(said),
    verdict: classifyFinal({ ...refusal, enhanced }),
  };
}

/**
 * The verdict of a whole report: null if no recipient failed, and a bounce only if every recipient bounced, because an alias
 * with one working member is still usable.
 */
export function overallVerdict(recipients: readonly RecipientReport[]): Verdict | null {
  const failed = recipients.filter(({ kind }) => kind === 'failed');
  const usable = recipients.find(({ verdict }) => verdict?.kind !== 'bounce');
  const [first] = failed;
  if (first === undefined) return null;
  if (usable === undefined) return first.verdict;
  const mild = failed.find(({ verdict }) => verdict?.kind === 'failed')?.verdict;
  return mild ?? (first.verdict && { ...first.verdict, kind: 'failed' });
}

function recipientReport(kind: RecipientReport['kind'], fields: ReadonlyMap<string, string>): RecipientReport {
  const recipient = parseAddress(fields.get('final-recipient')) ?? parseAddress(fields.get('original-recipient'));
  const status = /^\s*([245]\.\d{1,3}\.\d{1,3})(?!\d)/.exec(fields.get('status') ?? '')?.[1] ?? null;
  const diagnostic = removeType(fields.get('diagnostic-code') ?? '');
  const failed = failedReport(recipient, status, diagnostic);
  return kind === 'failed' ? failed : { ...failed, kind, verdict: null };
}

/** Extracts the address from `rfc822; someone@example.com`; `utf-8;` addresses may write characters as `\x{…}` (RFC 6533 §3). */
function parseAddress(field: string | undefined): string | null {
  const address = removeType(field ?? '')
    .slice(0, 1000)
    .replace(/\\x\{([0-9a-f]{2,6})\}/gi, (whole, hex: string) => {
      const code = Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    })
    .replace(/^<(.*)>$/, '$1')
    .trim();
  return address === '' ? null : address;
}

/** Removes the leading type, such as `rfc822;` or `smtp;`. */
function removeType(value: string): string {
  return value
    .slice(0, 5000)
    .replace(/^[\w.-]{1,40}\s*;/, '')
    .trim();
}

/**
 * Yields the groups of a text, which blank lines separate: field names in lower case, values unfolded. If a field occurs more
 * than once in a group, the first one counts. Lines that are not a field are skipped.
 */
export function* fieldGroups(text: string): Generator<Map<string, string>> {
  let group = new Map<string, string>();
  let open: string | null = null;
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line.trim() === '') {
      if (group.size > 0) yield group;
      group = new Map();
      open = null;
    } else if (/^[ \t]/.test(line)) {
      if (open !== null) group.set(open, `${group.get(open)} ${line.trim()}`);
    } else {
      const colon = line.indexOf(':');
      const name = line.slice(0, Math.max(colon, 0)).trimEnd().toLowerCase();
      open = /^[!-9;-~]+$/.test(name) && !group.has(name) ? name : null;
      if (open !== null) group.set(open, line.slice(colon + 1).trim());
    }
  }
  if (group.size > 0) yield group;
}
