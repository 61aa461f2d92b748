/** Parses the machine-readable part of a delivery status notification, recipient by recipient (RFC 3464, RFC 6533). */
import { classifyFinal, readRefusal, type Verdict } from '../../replies/classify.ts';
import { sanitizeText } from './sanitize.ts';

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
