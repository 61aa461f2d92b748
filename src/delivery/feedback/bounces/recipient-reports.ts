/** Reads what a delivery report says about each recipient, and gives a verdict about the whole report. */
import { classifyFinal, readRefusal, type Verdict } from '../../replies/classify.ts';
import { sanitizeText } from './sanitize.ts';

/** The actions that a delivery report can name (RFC 3464 §2.3.3). */
const ACTIONS = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const;

/** What a report says about one recipient. All texts are sanitized and limited in length. */
export interface RecipientReport {
  kind: (typeof ACTIONS)[number];
  /** The final recipient as reported, which may differ from the address we wrote to. */
  recipient: string | null;
  /** The enhanced status code, such as `5.1.1`. */
  status: string | null;
  /** The reply of the server that rejected the mail; may be empty. */
  diagnostic: string;
  /** The verdict about the failure; null unless `kind` is `failed`. */
  verdict: Verdict | null;
}

/**
 * The maximum number of recipients that are read from a report. Each of our mails has one recipient, but a report names several if that
 * recipient is an alias.
 */
const MAX_RECIPIENTS = 100;
/** The maximum length of an address: the longest local part, `@` and the longest domain (RFC 5321 §4.5.3.1). */
export const MAX_ADDRESS_LENGTH = 320;

/** Parses the recipients in a `message/delivery-status` text, at most 100. A group without a known Action is skipped. */
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

/** Matches the beginning of qmail's notice (https://cr.yp.to/proto/qsbmf.txt) and of two former notices of Yahoo. */
const INTRODUCTION =
  /^(?:Hi\. This is the|(?:Message from {1,3}[\w.-]{1,255}\r?\n)?Unable to deliver message to the following address|Sorry, we were unable to deliver your message to the following address)/;

/**
 * Parses a notice of qmail, or a former notice of Yahoo in the same form: an introduction, a paragraph for each failed recipient, and a
 * paragraph that begins with a hyphen (in Japan with an equals sign). Returns an empty list for any other text.
 */
export function readQmailNotice(text: string): RecipientReport[] {
  const paragraphs = text.split(/\r?\n[ \t]*\r?\n/, MAX_RECIPIENTS + 1);
  if (!INTRODUCTION.test(paragraphs[0] ?? '')) return [];
  const end = paragraphs.findIndex((paragraph) => /^[-=]/.test(paragraph));
  return paragraphs.slice(1, end === -1 ? undefined : end).flatMap((paragraph) => {
    const [, recipient = '', reply = ''] = /^<([^>]{1,320})>:\s*(.*)$/s.exec(paragraph.slice(0, 3000)) ?? [];
    const status = /\(#([245]\.\d{1,3}\.\d{1,3})\)/.exec(reply)?.[1] ?? null;
    return recipient === '' ? [] : [failedReport(recipient, status, reply)];
  });
}

/**
 * Parses the notice that older versions of Exim sent instead of delivery reports: the failed addresses are in the X-Failed-Recipients
 * header, which delay warnings lack, and the reason follows each address in the text.
 */
export function readEximNotice(failedRecipients: string, text: string): RecipientReport[] {
  return failedRecipients
    .slice(0, MAX_ADDRESS_LENGTH * MAX_RECIPIENTS)
    .split(',', MAX_RECIPIENTS)
    .map((address) => address.trim())
    .filter((address) => address.includes('@'))
    .map((address) => {
      const at = text.indexOf(address);
      const reply = at === -1 ? '' : text.slice(at + address.length, at + address.length + 2000);
      return failedReport(address, null, reply.split(/\n[ \t]*\r?\n/, 1)[0] ?? '');
    });
}

/** Returns the report for a failed recipient, classified by the server's `reply`, or by the reported `status` if the reply is not clear. */
function failedReport(recipient: string | null, status: string | null, reply: string): RecipientReport {
  const refusal = readRefusal(reply);
  // The code in the rejecting server's own reply is more reliable than the status that the reporting server derived from it.
  const isSpecific = refusal.enhanced !== null && !refusal.enhanced.endsWith('.0.0');
  const enhanced = (isSpecific ? refusal.enhanced : status) ?? '5.0.0';
  return {
    kind: 'failed',
    recipient: recipient === null ? null : sanitizeText(recipient.slice(0, MAX_ADDRESS_LENGTH)),
    status: status ?? refusal.enhanced,
    diagnostic: sanitizeText(reply),
    verdict: classifyFinal({ ...refusal, enhanced }),
  };
}

/**
 * Returns the verdict of a whole report; null if no recipient failed. It is a bounce only if every recipient bounced, because an alias with
 * one working member is still usable.
 */
export function overallVerdict(recipients: readonly RecipientReport[]): Verdict | null {
  const failed = recipients.filter(({ kind }) => kind === 'failed');
  const usable = recipients.find(({ verdict }) => verdict?.kind !== 'bounce');
  const [first] = failed;
  if (first === undefined) return null;
  if (usable === undefined) return first.verdict;
  const failedOnly = failed.find(({ verdict }) => verdict?.kind === 'failed')?.verdict;
  return failedOnly ?? (first.verdict && { ...first.verdict, kind: 'failed' });
}

function recipientReport(kind: RecipientReport['kind'], fields: ReadonlyMap<string, string>): RecipientReport {
  const recipient = reportedAddress(fields.get('final-recipient')) ?? reportedAddress(fields.get('original-recipient'));
  const status = /^\s*([245]\.\d{1,3}\.\d{1,3})(?!\d)/.exec(fields.get('status') ?? '')?.[1] ?? null;
  const diagnostic = removeType(fields.get('diagnostic-code') ?? '');
  const failed = failedReport(recipient, status, diagnostic);
  return kind === 'failed' ? failed : { ...failed, kind, verdict: null };
}

/** Extracts the address from `rfc822; someone@example.com`. `utf-8;` addresses may encode characters as `\x{…}` (RFC 6533 §3). */
function reportedAddress(field: string | undefined): string | null {
  const address = removeType(field ?? '')
    .slice(0, 1000)
    .replace(/\\x\{([0-9a-f]{2,6})\}/gi, (escaped, hex: string) => {
      const code = Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : escaped;
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
 * Yields the groups of fields in a text, which blank lines separate, with field names in lower case and values unfolded. If a group repeats
 * a field, the first one counts. Lines that are not fields are skipped.
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
