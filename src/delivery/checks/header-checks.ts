/**
 * Checks the header of a mail against what Gmail, Yahoo and Microsoft ask of senders:
 * - https://support.google.com/mail/answer/81126 (Email sender guidelines)
 * - https://senders.yahooinc.com/best-practices/
 * - https://techcommunity.microsoft.com/blog/microsoftdefenderforoffice365blog/strengthening-email-ecosystem-outlook%E2%80%99s-new-requirements-for-high%E2%80%90volume-senders/4399730
 */
import type { MailParts } from './mail-checks.ts';
import type { NameSample } from './reading-checks.ts';

/** The result of one check of a header. */
export interface HeaderFinding {
  check: 'oneClick' | 'freemail' | 'signature' | 'headers';
  isGood: boolean;
  values: NameSample;
}

/** Fields that a mail has exactly once (RFC 5322, 3.6). Gmail refuses a mail that repeats one of them. */
const SINGLE_FIELDS = ['From', 'Date', 'Message-ID', 'Subject', 'To'];
/**
 * The domains of mailbox providers. Their DMARC policies make receivers refuse mail that others send from these
 * domains, or treat it as spam: Gmail and Yahoo name this in their rules.
 */
const MAILBOX_PROVIDER =
  /^(?:gmail\.com|googlemail\.com|(?:yahoo|ymail|rocketmail)\.(?:[a-z]{2,3}|com?\.[a-z]{2})|aol\.com|(?:outlook|hotmail|live|msn)\.(?:[a-z]{2,3}|com?\.[a-z]{2})|icloud\.com|me\.com|mac\.com|gmx\.[a-z]+|web\.de|t-online\.de|mail\.ru|proton\.me|protonmail\.com)$/i;

/** Returns true if a domain belongs to a mailbox provider such as Gmail, so that nobody else can add records to its DNS. */
export function isMailboxProvider(domain: string): boolean {
  return MAILBOX_PROVIDER.test(domain);
}

/** Checks that a sender's address does not belong to a mailbox provider such as Gmail, because mail from such an address fails DMARC. */
export function checkSender(address: string): HeaderFinding {
  const domain = domainOf(address);
  const isProvider = isMailboxProvider(domain);
  return {
    check: 'freemail',
    isGood: !isProvider,
    values: { count: isProvider ? 1 : 0, names: isProvider ? [domain] : [] },
  };
}

/** Checks the header of a mail in the form in which it is sent. */
export function checkHeaders({ headers }: Pick<MailParts, 'headers'>): HeaderFinding[] {
  const valuesOf = (name: string) =>
    headers.filter((header) => header.name.toLowerCase() === name.toLowerCase()).map(({ value }) => value);
  const finding = (check: HeaderFinding['check'], names: readonly string[]): HeaderFinding => ({
    check,
    isGood: names.length === 0,
    values: { count: names.length, names },
  });
  // RFC 8058, 3.1 asks for an HTTPS address, and for the field that allows the POST. HTTP is accepted for a service on this machine, which
  // has no HTTPS.
  const hasAddress = valuesOf('List-Unsubscribe').some((value) =>
    /<(?:https:\/\/|http:\/\/(?:localhost|127\.|\[::1\]))[^>]+>/i.test(value),
  );
  const hasPost = valuesOf('List-Unsubscribe-Post').some((value) => /^List-Unsubscribe=One-Click$/i.test(value.trim()));
  const sender = domainOf(valuesOf('From')[0] ?? '');
  const signers = valuesOf('DKIM-Signature').flatMap((value) => /(?:^|;)\s*d\s*=\s*([^;\s]+)/i.exec(value)?.[1] ?? []);
  return [
    finding('oneClick', [...(hasAddress ? [] : ['List-Unsubscribe']), ...(hasPost ? [] : ['List-Unsubscribe-Post'])]),
    checkSender(valuesOf('From')[0] ?? ''),
    finding('signature', signers.some((signer) => isAligned(signer, sender)) ? [] : [sender || 'From']),
    finding(
      'headers',
      SINGLE_FIELDS.filter((name) => valuesOf(name).length !== 1),
    ),
  ];
}

/**
 * Returns true if the domain of a DKIM signature is aligned with the sender's domain, as DMARC asks in its relaxed mode (RFC 7489, 3.1.1). The list
 * of public suffixes is not used: the domains are aligned if they are the same or one is a subdomain of the other. `sender` is in lower case.
 */
function isAligned(signer: string, sender: string): boolean {
  const domain = signer.toLowerCase();
  return domain === sender || domain.endsWith(`.${sender}`) || (domain.includes('.') && sender.endsWith(`.${domain}`));
}

function domainOf(address: string): string {
  return /@([^\s<>@,;"]+)>?\s*$/.exec(address)?.[1]?.toLowerCase() ?? '';
}
