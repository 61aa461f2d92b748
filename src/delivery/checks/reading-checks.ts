/**
 * Checks how recipients and mail programs read a mail: whether Gmail clips the unsubscribe link or the pixel, whether the mail is readable
 * without images, whether its headings are in order, whether its links are secure and lead somewhere, and whether it contains spam words.
 */
import { GMAIL_BYTES, type MailContent } from './mail-checks.ts';
import { findSpamWords } from './spam-words.ts';

/** The number of items found, and the names of the first few. */
export interface NameSample {
  readonly count: number;
  readonly names: readonly string[];
}

/** The result of one check of how a mail is read. `names` are inserted into the sentence that describes the result. */
export interface ReadingFinding {
  check: 'clippedUnsubscribe' | 'clippedPixel' | 'imagesOnly' | 'headings' | 'http' | 'examples' | 'spamWords';
  isGood: boolean;
  values: NameSample;
}

/** The number of characters of text from which a mail counts as readable without its images. A footer alone has fewer. */
const MIN_CHARACTERS = 200;
const MAX_NAMES = 5;
/** The maximum number of names in a finding whose names are links to places in the mail. */
export const MAX_PLACES = 20;
const MAX_NAME_CHARACTERS = 80;
/** Domains reserved for examples and tests (RFC 2606, RFC 6761), and domains that templates have in place of the owner's. */
const EXAMPLE_HOST =
  /(?:^|\.)(?:example(?:\.(?:com|net|org))?|test|invalid|(?:your-?(?:domain|site|website|company|shop)|mydomain|domain)\.(?:com|net|org))\.?$/i;
/** The URL of a preview's page or of this machine. The mail is not at fault for these URLs: the service itself inserts them. */
const OWN_PAGE = /\/[uw]\/preview|^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?:[:/]|$)/i;

/** Checks the content of a mail, as `readHtml` reads it. `size` is the size of its HTML in bytes. */
export function checkReading(
  { links, blocks, images, headings, bytesBefore }: MailContent,
  { subject, size }: { subject: string; size: number },
): ReadingFinding[] {
  const text = blocks.join(' ');
  const urls = [...new Set(links.map(({ url }) => url.trim()))].filter((url) => !OWN_PAGE.test(url));
  const isClipped = (before: number | null) => size > GMAIL_BYTES && before !== null && before > GMAIL_BYTES;
  const unnamed = (isFound: boolean): NameSample => ({ count: isFound ? 1 : 0, names: [] });
  const finding = (check: ReadingFinding['check'], values: NameSample) => ({
    check,
    isGood: values.count === 0,
    values,
  });
  return [
    finding('clippedUnsubscribe', unnamed(isClipped(bytesBefore.unsubscribe))),
    finding('clippedPixel', unnamed(isClipped(bytesBefore.pixel))),
    finding('imagesOnly', unnamed(images > 0 && text.length < MIN_CHARACTERS)),
    finding('headings', { count: countFaultyHeadings(headings), names: [] }),
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

/** Returns the number of headings that are empty or more than one level below the heading before. */
function countFaultyHeadings(headings: readonly number[]): number {
  let before = 0;
  return headings.filter((level) => {
    const isFault = level === 0 || (before > 0 && level > before + 1);
    if (level > 0) before = level;
    return isFault;
  }).length;
}

/** Returns the host of a web address; empty for anything else. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}

/** Returns the number of all names and the names to show: the first `most`, each cut to 80 characters. */
export function sampleNames(all: readonly string[], most = MAX_NAMES): NameSample {
  return { count: all.length, names: all.slice(0, most).map((name) => name.slice(0, MAX_NAME_CHARACTERS) || '–') };
}
