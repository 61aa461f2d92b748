/** Finds the cause of a refusal in its text, for replies whose code is not clear. Only well-known wordings; in doubt, none. */

/** `address`, `domain`, `syntax` and `disabled` mean the address is unusable; the others concern this mail, sender or moment. */
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

const MAX_CHARACTERS = 1000;
/** Words for a recipient, as servers write them. */
const WHO = '(?:user|mailbox|recipient|account|addressee|address|alias|person)';

/** In this order, so that a cause that is not the address's fault is found first. */
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

/** Wordings that are clear only with their code: those of Exchange Online's directory check, and of Cisco's gateways. */
const BY_CODE: Readonly<Record<string, RegExp>> = {
  '4.1': /\brecipient address rejected: access denied\b/,
  '1.0': /\baddress rejected\b/,
};

/** The cause in a reply's text, or null; `code` is the subject and detail of its enhanced code. */
export function causeInText(reply: string, code: string): Cause | null {
  const text = plainWords(reply);
  const found = WORDINGS.find(([, wording]) => wording.test(text));
  if (found !== undefined) return found[0];
  return BY_CODE[code]?.test(text) ? 'address' : null;
}

/** The text without addresses, host names, links and numbers, which might contain a word such as `spam` by accident. */
function plainWords(reply: string): string {
  return reply
    .slice(0, MAX_CHARACTERS)
    .toLowerCase()
    .replaceAll('’', "'")
    .split(/\s+/)
    .filter((word) => !/[@/_\d]|[a-z]\.[a-z]/.test(word))
    .join(' ');
}
