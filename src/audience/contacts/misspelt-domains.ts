/** Finds domains of addresses that look like a large mail provider's, misspelt, such as gmial.com. */
import { isNear } from '../../errors/edit-distance.ts';

/** The domains with the most mailboxes whose first label is long enough for one wrong letter to be a slip and not another name. */
const LARGE = [
  'gmail.com',
  'googlemail.com',
  'yahoo.com',
  'yahoo.co.uk',
  'yahoo.de',
  'yahoo.fr',
  'hotmail.com',
  'hotmail.co.uk',
  'hotmail.de',
  'hotmail.fr',
  'outlook.com',
  'outlook.de',
  'icloud.com',
  'protonmail.com',
  'fastmail.com',
  't-online.de',
  'freenet.de',
  'orange.fr',
  'wanadoo.fr',
  'libero.it',
].map((domain) => ({ domain, ...splitDomain(domain) }));
/** Domains of other providers that differ by one letter from a larger provider's. */
const OTHER_PROVIDERS = new Set(['email.com', 'mail.com', 'ymail.com', 'cloud.com']);

/**
 * Returns the domain of a large provider if this domain, in ASCII form and lower case, looks like a misspelling of it: one slip of a letter
 * in the first label, as in hotmial.com, or in the ending .com, as in gmail.con. Returns null if the domain is that of a provider, or
 * resembles none.
 */
export function meantDomain(domain: string): string | null {
  if (OTHER_PROVIDERS.has(domain)) return null;
  const { label, ending } = splitDomain(domain);
  const isSlip = (written: string, correct: string) => written !== correct && isNear(written, correct, 1);
  let meant: string | null = null;
  for (const large of LARGE) {
    if (domain === large.domain) return null;
    // An ending other than .com often belongs to the same provider in another country.
    const hasSlip =
      ending === large.ending
        ? isSlip(label, large.label)
        : label === large.label && large.ending === 'com' && isSlip(ending, 'com');
    if (hasSlip) meant ??= large.domain;
  }
  return meant;
}

function splitDomain(domain: string): { label: string; ending: string } {
  const dot = domain.indexOf('.');
  return { label: domain.slice(0, dot), ending: domain.slice(dot + 1) };
}
