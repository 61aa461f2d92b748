/** Delivery status notifications: what the machine-readable part says of each recipient (RFC 3464, RFC 6533). */
import { classifyFinal, readRefusal, type Verdict } from './classify.ts';
import { fieldGroups } from './field-groups.ts';
import { sanitizeText } from './sanitize.ts';

const ACTIONS = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const;

/** One recipient of a report. Every text is inert and bounded. */
export interface RecipientReport {
  kind: (typeof ACTIONS)[number];
  /** The final recipient as reported: not always whom we wrote to. */
  recipient: string | null;
  /** Enhanced status code, such as `5.1.1`. */
  status: string | null;
  /** What the refusing server said; may be empty. */
  diagnostic: string;
  /** Only for `failed`. */
  verdict: Verdict | null;
}

/** A mail of ours has one recipient, so that more are an alias's members; past these the report is no answer to one mail. */
export const MAX_RECIPIENTS = 100;
/** Local part, `@` and domain at their largest (RFC 5321 §4.5.3.1). */
export const MAX_ADDRESS_LENGTH = 320;

/** The recipients of a `message/delivery-status` text, at most 100. A group without a known Action is passed over. */
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

/** The failure of one recipient, judged by what the server `said` and, where that does not tell, by the reported status. */
export function failedReport(recipient: string | null, status: string | null, said: string): RecipientReport {
  const refusal = readRefusal(said);
  // What the refusing server itself said is closer to the matter than what the reporting one made of it.
  const isTelling = refusal.enhanced !== null && !refusal.enhanced.endsWith('.0.0');
  const enhanced = (isTelling ? refusal.enhanced : status) ?? '5.0.0';
  return {
    kind: 'failed',
    recipient: recipient === null ? null : sanitizeText(recipient.slice(0, MAX_ADDRESS_LENGTH)),
    status: status ?? refusal.enhanced,
    diagnostic: sanitizeText(said),
    verdict: classifyFinal({ ...refusal, enhanced }),
  };
}

/**
 * What a report says about a mail of ours as a whole: null when nothing failed; a bounce only when that is the verdict on every
 * recipient, because where an alias still has living members the address is not finished.
 */
export function overallVerdict(recipients: readonly RecipientReport[]): Verdict | null {
  const failed = recipients.filter(({ kind }) => kind === 'failed');
  const living = recipients.find(({ verdict }) => verdict?.kind !== 'bounce');
  const [first] = failed;
  if (first === undefined) return null;
  if (living === undefined) return first.verdict;
  const mild = failed.find(({ verdict }) => verdict?.kind === 'failed')?.verdict;
  return mild ?? { kind: 'failed', reason: first.verdict?.reason ?? '' };
}

function recipientReport(kind: RecipientReport['kind'], fields: ReadonlyMap<string, string>): RecipientReport {
  const recipient = addressIn(fields.get('final-recipient')) ?? addressIn(fields.get('original-recipient'));
  const status = /^\s*([245]\.\d{1,3}\.\d{1,3})(?!\d)/.exec(fields.get('status') ?? '')?.[1] ?? null;
  const diagnostic = afterType(fields.get('diagnostic-code') ?? '');
  const failed = failedReport(recipient, status, diagnostic);
  return kind === 'failed' ? failed : { ...failed, kind, verdict: null };
}

/** `rfc822; someone@example.com` → the address; `utf-8;` addresses may spell characters as `\x{…}` (RFC 6533 §3). */
function addressIn(field: string | undefined): string | null {
  const address = afterType(field ?? '')
    .slice(0, 1000)
    .replace(/\\x\{([0-9a-f]{2,6})\}/gi, (whole, hex: string) => {
      const code = Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    })
    .replace(/^<(.*)>$/, '$1')
    .trim();
  return address === '' ? null : address;
}

/** Without the leading `rfc822;` or `smtp;`. */
function afterType(value: string): string {
  return value
    .slice(0, 5000)
    .replace(/^[\w.-]{1,40}\s*;/, '')
    .trim();
}
