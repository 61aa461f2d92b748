/**
 * Checks of what recipients and mail programs make of a mail: whether Gmail cuts off how to unsubscribe, whether it reads without images,
 * its headings, where its links lead, and words that lists of spam words have.
 */
import { GMAIL_BYTES, type MailContent } from './mail-checks.ts';
import { findSpamWords } from './spam-words.ts';

/** The number of items found, and the names of the first few. */
export interface NameSample {
  readonly count: number;
  readonly names: readonly string[];
}

/** The result of one of these checks. `names` are inserted into the sentence that describes the result. */
export interface ReadingFinding {
  check: 'clippedUnsubscribe' | 'clippedPixel' | 'imagesOnly' | 'headings' | 'http' | 'examples' | 'spamWords';
  isGood: boolean;
  values: NameSample;
}

/** A mail with images has at least so many characters of text, which is more than a footer. */
const MIN_CHARACTERS = 200;
const MAX_NAMES = 5;
/** The maximum number of places that are listed as links. */
export const MAX_PLACES = 20;
const MAX_NAME = 80;
/** Names reserved for examples and tests (RFC 2606, RFC 6761), and those that templates have in place of a domain. */
const EXAMPLE_HOST =
  /(?:^|\.)(?:example(?:\.(?:com|net|org))?|test|invalid|(?:your-?(?:domain|site|website|company|shop)|mydomain|domain)\.(?:com|net|org))\.?$/i;
/** A page of this service in a preview, or this machine, whose address is no fault of the mail. */
const OWN_PAGE = /\/[uw]\/preview|^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?:[:/]|$)/i;

/** Checks the content of a mail, as `readHtml` reads it. `size` is that of its HTML in bytes. */
export function checkReading(
  { links, blocks, images, headings, bytesBefore }: MailContent,
  { subject, size }: { subject: string; size: number },
): ReadingFinding[] {
  const text = blocks.join(' ');
  const urls = [...new Set(links.map(({ url }) => url.trim()))].filter((url) => !OWN_PAGE.test(url));
  const isClipped = (before: number | null) => size > GMAIL_BYTES && before !== null && before > GMAIL_BYTES;
  const one = (isFound: boolean): NameSample => ({ count: isFound ? 1 : 0, names: [] });
  const finding = (check: ReadingFinding['check'], values: NameSample) => ({
    check,
    isGood: values.count === 0,
    values,
  });
  return [
    finding('clippedUnsubscribe', one(isClipped(bytesBefore.unsubscribe))),
    finding('clippedPixel', one(isClipped(bytesBefore.pixel))),
    finding('imagesOnly', one(images > 0 && text.length < MIN_CHARACTERS)),
    finding('headings', { count: headingFaults(headings), names: [] }),
    finding(
      'examples',
      sampleNames(
        urls.filter((url) => EXAMPLE_HOST.test(hostOf(url))),
        MAX_PLACES,
      ),
    ),
    finding(
      'http',
      sampleNames(
        urls.filter((url) => /^http:\/\//i.test(url)),
        MAX_PLACES,
      ),
    ),
    finding(
      'spamWords',
      sampleNames(findSpamWords(`${subject} ${text}`).map(({ word, weight }) => `${word} (${weight})`)),
    ),
  ];
}

/** How many headings are empty or more than one level below the heading before. */
function headingFaults(headings: readonly number[]): number {
  let before = 0;
  return headings.filter((level) => {
    const isFault = level === 0 || (before > 0 && level > before + 1);
    if (level > 0) before = level;
    return isFault;
  }).length;
}

/** The host of a web address; empty for anything else. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}

/** The names to show of all that were found: the first `most`, each of 80 characters at most. */
export function sampleNames(all: readonly string[], most = MAX_NAMES): NameSample {
  return { count: all.length, names: all.slice(0, most).map((name) => name.slice(0, MAX_NAME) || '–') };
}
