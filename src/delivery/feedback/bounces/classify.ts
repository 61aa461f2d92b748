/** What a refusal means for the address: SMTP replies and the diagnostics of delivery reports alike (RFC 5321 §4.2, RFC 3463). */
import { type Cause, causeInText } from './causes.ts';

/** A refusal: SMTP reply code (0: none), enhanced status code, and the reply as it came. */
export interface Refusal {
  code: number;
  enhanced: string | null;
  reply: string;
}

/** `bounce`: the address is finished and is to be suppressed. `failed`: this mail only. `deferred`: worth another try. */
export interface Verdict {
  kind: 'bounce' | 'failed' | 'deferred';
  /** One of a few sentences for a person; the reply itself is not in it. */
  reason: string;
}

/** By subject and detail of the enhanced code (RFC 3463 §3, RFC 7505; 1.10 is Exchange's for "no such recipient" too). */
const BY_CODE: Readonly<Record<string, Cause>> = {
  '1.1': 'address',
  '1.2': 'domain',
  '1.3': 'syntax',
  '1.6': 'address',
  '1.7': 'sender',
  '1.8': 'sender',
  '1.10': 'address',
  '2.1': 'disabled',
  '2.2': 'full',
  '2.3': 'size',
  '3.4': 'size',
  '4.7': 'expired',
};
const BY_SUBJECT: Readonly<Record<string, Cause>> = { '3': 'system', '4': 'route', '6': 'content', '7': 'policy' };

/** What ends an address. */
const FINAL: ReadonlySet<Cause> = new Set(['address', 'domain', 'syntax', 'disabled']);
/** What a text may say that outweighs a code that ends the address: the code is then a server's habit. */
const EXCUSES: ReadonlySet<Cause> = new Set(['policy', 'busy', 'full']);
/** Codes too general to outweigh a text that is clear. */
const VAGUE: ReadonlySet<Cause> = new Set(['route', 'system', 'other']);

const REASONS: Readonly<Record<Cause, string>> = {
  address: 'The address does not exist.',
  domain: 'The domain does not exist or takes no mail.',
  syntax: 'The receiving server does not take this as an address.',
  disabled: 'The mailbox is disabled.',
  full: 'The mailbox is full.',
  busy: 'The receiving server takes no more mail for now.',
  size: 'The mail is too large for the receiving server.',
  content: 'The receiving server does not take this kind of content.',
  sender: 'The receiving server does not accept the sender address.',
  policy: 'The receiving server refuses the mail by policy: reputation, authentication or content.',
  route: 'The receiving server could not be reached.',
  expired: 'The mail could not be delivered in time.',
  system: 'The receiving server has a problem of its own.',
  other: 'The receiving server refused the mail.',
};

/** The sentences that read differently while there is hope. */
const REASONS_FOR_NOW: Readonly<Partial<Record<Cause, string>>> = {
  policy: 'The receiving server holds the mail back by policy: greylisting, rate or reputation.',
  other: 'The receiving server asks for a later try.',
};

/** Judges one refusal. A 4xx, or a connection that gave no code, is always `deferred`; 5.7.x is never a bounce (trust 4, 6). */
export function classify({ code, enhanced, reply }: Refusal): Verdict {
  const isPermanent = code >= 500 || (code < 400 && enhanced?.startsWith('5.') === true);
  const cause = causeOf(code, enhanced, reply);
  if (!isPermanent) return { kind: 'deferred', reason: REASONS_FOR_NOW[cause] ?? REASONS[cause] };
  // "550 4.1.1" contradicts itself: not enough to end an address.
  const isFinal = FINAL.has(cause) && enhanced?.startsWith('4.') !== true;
  return { kind: isFinal ? 'bounce' : 'failed', reason: REASONS[cause] };
}

/** Judges a refusal nobody will try again, whatever its code: what a delivery report calls `failed` is never `deferred`. */
export function classifyFinal(refusal: Refusal): Verdict {
  const { kind, reason } = classify(refusal);
  return { kind: kind === 'bounce' ? 'bounce' : 'failed', reason };
}

/** The refusal in a text that quotes one, such as a diagnostic: the first SMTP reply at its start, at a line's, or after `said:`. */
export function readRefusal(text: string): Refusal {
  const reply = text.slice(0, 2000);
  const found = /(?:^|said:|;)[ \t]*([45]\d\d)(?:[ -][ \t]*#?([245]\.\d{1,3}\.\d{1,3})(?![\d.]))?(?=[ -]|$)/m.exec(
    reply,
  );
  return { code: Number(found?.[1] ?? 0), enhanced: found?.[2] ?? null, reply };
}

function causeOf(code: number, enhanced: string | null, reply: string): Cause {
  const [, subject = '', detail = ''] = /^[245]\.(\d{1,3})\.(\d{1,3})$/.exec(enhanced ?? '') ?? [];
  const said = causeInText(reply, `${subject}.${detail}`);
  const coded = BY_CODE[`${subject}.${detail}`] ?? BY_SUBJECT[subject] ?? byReplyCode(code, enhanced);
  if (VAGUE.has(coded)) return said ?? coded;
  return said !== null && FINAL.has(coded) && EXCUSES.has(said) ? said : coded;
}

/** Where there is no telling enhanced code. 556: the domain takes no mail (RFC 7504). */
function byReplyCode(code: number, enhanced: string | null): Cause {
  if (code === 556) return 'domain';
  return code === 0 && enhanced === null ? 'route' : 'other';
}
