/**
 * Classifies what a refusal means for the address, for SMTP replies and for the diagnostics of delivery reports (RFC 5321 §4.2, RFC 3463).
 * If the code is not clear, the text of the reply decides.
 */
import { type Said, type Sentence, sentence } from '../../errors/sentences.ts';

/** A refusal of a mail. */
export interface Refusal {
  /** The SMTP reply code; 0 if there is none. */
  code: number;
  /** The enhanced status code, such as 5.1.1; null if there is none. */
  enhanced: string | null;
  /** The unchanged reply. */
  reply: Said;
}

/**
 * What a refusal means. `bounce`: the address is unusable and is suppressed. `failed`: only this mail failed. `deferred`: the mail can be
 * retried.
 */
export interface Verdict {
  kind: 'bounce' | 'failed' | 'deferred';
  /** A sentence for the owner, from a fixed set, without the server's reply. */
  reason: Sentence;
}

/** Causes by the subject and detail of the enhanced code (RFC 3463 §3, RFC 7505). Exchange also uses 1.10 for "no such recipient". */
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
/** Causes by the subject of the enhanced code alone. */
const BY_SUBJECT: Readonly<Record<string, Cause>> = { '3': 'system', '4': 'route', '6': 'content', '7': 'policy' };

/** Causes that make an address unusable. */
const FINAL: ReadonlySet<Cause> = new Set(['address', 'domain', 'syntax', 'disabled']);
/**
 * Causes that count if the text of a reply names them although its code means a cause in FINAL. Some servers use such a code for every
 * refusal.
 */
const EXCUSES: ReadonlySet<Cause> = new Set(['policy', 'busy', 'full']);
/** Causes derived from codes so general that a clear text overrides them. */
const VAGUE: ReadonlySet<Cause> = new Set(['route', 'system', 'other']);

/** Returns the sentence for a cause. For some causes, a temporary refusal has a sentence of its own. */
function reasonFor(cause: Cause, isTemporary: boolean): Sentence {
  if (isTemporary && (cause === 'policy' || cause === 'other')) return sentence(`cause_${cause}_for_now`);
  return sentence(`cause_${cause}`);
}

/**
 * Classifies one refusal. A 4xx code, or no code at all, is always `deferred`. A policy refusal (5.7.x) is never a bounce, because it is
 * about the sender.
 */
export function classify({ code, enhanced, reply }: Refusal): Verdict {
  const isPermanent = code >= 500 || (code < 400 && enhanced?.startsWith('5.') === true);
  const cause = findCause(code, enhanced, String(reply));
  if (!isPermanent) return { kind: 'deferred', reason: reasonFor(cause, true) };
  // "550 4.1.1" contradicts itself, so it is not enough to suppress an address.
  const isFinal = FINAL.has(cause) && enhanced?.startsWith('4.') !== true;
  return { kind: isFinal ? 'bounce' : 'failed', reason: reasonFor(cause, false) };
}

/** Classifies a refusal after which the mail is not retried, such as `failed` in a delivery report: never `deferred`. */
export function classifyFinal(refusal: Refusal): Verdict {
  const { kind, reason } = classify(refusal);
  return { kind: kind === 'bounce' ? 'bounce' : 'failed', reason };
}

/** Returns the first SMTP reply quoted in a text such as a diagnostic: at the start of the text or of a line, or after `said:` or `;`. */
export function readRefusal(text: string): Refusal {
  const reply = text.slice(0, 2000);
  const codes = /(?:^|said:|;)[ \t]*([45]\d\d)(?:[ -][ \t]*#?([245]\.\d{1,3}\.\d{1,3})(?![\d.]))?(?=[ -]|$)/m.exec(
    reply,
  );
  return { code: Number(codes?.[1] ?? 0), enhanced: codes?.[2] ?? null, reply };
}

function findCause(code: number, enhanced: string | null, reply: string): Cause {
  const [, subject = '', detail = ''] = /^[245]\.(\d{1,3})\.(\d{1,3})$/.exec(enhanced ?? '') ?? [];
  const causeOfText = causeInText(reply, `${subject}.${detail}`);
  const coded = BY_CODE[`${subject}.${detail}`] ?? BY_SUBJECT[subject] ?? byReplyCode(code, enhanced);
  if (VAGUE.has(coded)) return causeOfText ?? coded;
  return causeOfText !== null && FINAL.has(coded) && EXCUSES.has(causeOfText) ? causeOfText : coded;
}

/** Returns the cause of a refusal without a known enhanced code. The code 556 says that the domain accepts no mail (RFC 7504). */
function byReplyCode(code: number, enhanced: string | null): Cause {
  if (code === 556) return 'domain';
  return code === 0 && enhanced === null ? 'route' : 'other';
}

/**
 * The cause of a refusal. `address`, `domain`, `syntax` and `disabled` mean that the address is unusable; the other causes concern this
 * mail, the sender or the moment.
 */
export type Cause =
  | 'address'
  | 'domain'
  | 'syntax'
  | 'disabled'
  | 'full'
  | 'busy'
  | 'size'
  | 'content'
  | 'sender'
  | 'policy'
  | 'route'
  | 'expired'
  | 'system'
  | 'other';

/** The number of characters of a reply in which a cause is looked for. */
const MAX_CHARACTERS = 1000;
/** Words that servers use for a recipient. */
const WHO = '(?:user|mailbox|recipient|account|addressee|address|alias|person)';

/** The wordings of causes. They are checked in this order, so that causes for which the address is not to blame are found first. */
const WORDINGS: readonly (readonly [Cause, RegExp])[] = [
  [
    'policy',
    /\b(?:spam\w*|unsolicited|junk|(?:black|block|deny|gr[ae]y)-?list\w*|dnsbl|rbl|reputation|polic(?:y|ies)|spf|dkim|dmarc|phish\w*|virus|malware|banned|blocked|relay\w*|authenticat\w+|senders?|mail from|helo|client host|hostname)\b/,
  ],
  ['busy', /\b(?:too (?:many|quickly|fast|often)|rate|limit(?:ed|s)?|temporar\w+|try (?:again|later)|later)\b/],
  [
    'full',
    /\b(?:quota|overquota|(?:mail)?box (?:is )?full|exceeded storage|(?:insufficient|not enough) (?:\w+ )?(?:storage|space))\b/,
  ],
  [
    'disabled',
    new RegExp(
      `\\b${WHO}\\b.{0,40}\\b(?:disabled|deactivated|closed|discontinued|no longer (?:active|valid|available|exists|in use))\\b`,
    ),
  ],
  [
    'address',
    new RegExp(
      [
        `\\b(?:unknown|no such|invalid|nonexistent|bad destination)(?: or illegal)?(?: (?:local|virtual|e-?mail|mailbox))? ${WHO}\\b`,
        `\\b${WHO}\\b.{0,40}\\b(?:unknown|not (?:be )?found|(?:not|n't) exist|not known|nonexistent|is invalid)\\b`,
        `\\bnot a (?:valid|known) ${WHO}\\b`,
        '\\bno (?:mailbox|account) (?:here )?(?:by|with) (?:that|this) name\\b',
        "\\bdoes(?:n't| not) have an?(?: \\S+)? account\\b",
        '\\bunrouteable address\\b',
      ].join('|'),
    ),
  ],
  [
    'domain',
    /\b(?:host or domain name not found|domain (?:name )?(?:not found|does(?:n't| not) exist)|no such domain|(?:unknown host|host unknown)|null mx|(?:couldn't|could not) find any host)\b/,
  ],
];

/** Phrases that are clear only together with their code: those of Exchange Online's directory check, and of Cisco's gateways. */
const ADDRESS_BY_CODE: Readonly<Record<string, RegExp>> = {
  '4.1': /\brecipient address rejected: access denied\b/,
  '1.0': /\baddress rejected\b/,
};

/** Returns the cause that a reply's text names; null if it names none. `code` is the subject and detail of the reply's enhanced code. */
export function causeInText(reply: string, code: string): Cause | null {
  const text = plainWords(reply);
  const match = WORDINGS.find(([, wording]) => wording.test(text));
  if (match !== undefined) return match[0];
  return ADDRESS_BY_CODE[code]?.test(text) ? 'address' : null;
}

/** Returns the text without addresses, host names, links and numbers, which might contain a word such as `spam` by accident. */
function plainWords(reply: string): string {
  return reply
    .slice(0, MAX_CHARACTERS)
    .toLowerCase()
    .replaceAll('’', "'")
    .split(/\s+/)
    .filter((word) => !/[@/_\d]|[a-z]\.[a-z]/.test(word))
    .join(' ');
}
