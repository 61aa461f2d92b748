/** What can be said of a mail before it is sent: what the checks of a sent mail say, and its links, placeholders and postal address. */

import { placeholderNames, scan } from '../content/merge.ts';
import { type MjmlNode, parseMjml } from '../content/mjml.ts';
import { checkMail, type Finding } from './mail-checks.ts';

/** How many of something there are, and the names of the first of them. */
export interface Named {
  readonly count: number;
  readonly names: readonly string[];
}

/** The result of a check that only a mail to be sent gets. `names` are put into the sentence about it. */
export interface ContentFinding {
  check: 'urls' | 'leave' | 'address' | 'addressLacks' | 'unknown' | 'foreign' | 'values';
  isGood: boolean;
  values: Named;
}

/** What the findings depend on besides the mail. */
export interface CheckContext {
  /** Placeholders for which the person it is shown to has no value. */
  readonly withoutValue: readonly string[];
  /** The names of all placeholders. */
  readonly known: readonly string[];
  /** Placeholders that nobody has a value for, and tags of other services. */
  readonly unknown: Named;
  readonly foreign: Named;
  /** The first line of the sender's postal address, and the names of what the address lacks. */
  readonly address: string;
  readonly lacking: readonly string[];
  /** The MJML in JSON that the mail was made of; empty if it was not. */
  readonly template: string;
}

/** The address of the preference page in a mail that nobody got yet. */
const PREFERENCES_PREVIEW = '/u/preview';
const MAX_NAMES = 5;
const MAX_NAME = 80;

/** What a mail of the outbox is checked for, too. */
export type SharedFinding = Finding & { check: Exclude<Finding['check'], 'unsubscribe'> };

/** Looks at a mail as one person of its audience would get it. */
export function checkContent(
  { html, text }: { html: string; text: string },
  { withoutValue, known, unknown, foreign, address, lacking, template }: CheckContext,
): { shared: SharedFinding[]; own: ContentFinding[] } {
  const { links, findings } = checkMail({ html, text, headers: [] });
  const finding = (check: ContentFinding['check'], { count, names }: Named): ContentFinding => ({
    check,
    isGood: count === 0,
    values: { count, names },
  });
  const isIn = address !== '' && oneLine(text).includes(oneLine(address));
  return {
    // The headers for unsubscribing are on every mail when it is sent.
    shared: findings
      .filter((found): found is SharedFinding => found.check !== 'unsubscribe')
      .map((found) => (found.check === 'images' ? withSilent(found, template) : found)),
    own: [
      finding('leave', { count: html.includes(PREFERENCES_PREVIEW) ? 0 : 1, names: [] }),
      isIn && lacking.length > 0
        ? finding('addressLacks', named(lacking))
        : finding('address', { count: isIn ? 0 : 1, names: [] }),
      finding('urls', named(links.map(({ url }) => url.trim()).filter((url) => !isReachable(url)))),
      finding('unknown', unknown),
      finding('foreign', foreign),
      finding('values', named(withoutValue.filter((name) => known.includes(name)))),
    ],
  };
}

function named(all: readonly string[]): Named {
  return { count: all.length, names: all.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME) || '–') };
}

/** Counts pictures of a design, too, of which nobody said that they are decoration: MJML gives them an empty text. */
function withSilent(found: SharedFinding, template: string): SharedFinding {
  // The mail was made of it, so it can be parsed.
  const count = found.values.count + (template === '' ? 0 : countSilent(parseMjml(template)));
  return { ...found, isGood: count === 0, values: { ...found.values, count } };
}

function countSilent({ tagName, attributes, children = [] }: MjmlNode): number {
  const isSilent =
    tagName === 'mj-image' && attributes.alt === undefined && attributes['data-decoration'] === undefined;
  return children.reduce((count, child) => count + countSilent(child), isSilent ? 1 : 0);
}

/** Whether a link leads somewhere from another machine: to a web address with a dot, a mail address or a phone number. */
function isReachable(url: string): boolean {
  if (/^(?:mailto:[^@\s]+@[^@\s]+|tel:\+?[\d\s()-]+)/i.test(url)) return true;
  if (url.includes('/u/preview') || url.includes('/w/preview')) return true;
  const parsed = URL.canParse(url) ? new URL(url) : null;
  return parsed !== null && /^https?:$/.test(parsed.protocol) && /\.\p{L}[\p{L}\p{N}-]+\.?$/u.test(parsed.hostname);
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

export interface ContentWarning {
  code: 'unknown_placeholders' | 'foreign_tags';
  /** How many different ones there are. */
  count: number;
  /** The first of them. */
  names: string[];
}

/** Tags of other services are looked for so far into each text, which bounds what hostile text costs. */
const MAX_SEARCHED = 128 * 1024;
/** `*|FNAME|*`, `{{ first_name }}` and `%recipient.name%`; what is between two percent signs of an encoded URL is none. */
const FOREIGN = [/\*\|[A-Z0-9_:]{1,60}\|\*/gi, /\{\{[^{}\n]{1,60}\}\}/g, /%[a-z][a-z_.]{2,40}%(?![0-9a-f]{2})/gi];

/** The warnings about the texts and the code of a mail. `known` are the names of placeholders that may have a value; null: any may. */
export function contentWarnings(texts: readonly string[], known: readonly string[] | null): ContentWarning[] {
  const used = known === null ? [] : placeholderNames(texts.map((text) => scan(text)));
  const unknown = used.filter((name) => !known?.includes(name));
  const foreign = new Set(
    texts.flatMap((text) => FOREIGN.flatMap((tag) => text.slice(0, MAX_SEARCHED).match(tag) ?? [])),
  );
  return [warning('unknown_placeholders', unknown), warning('foreign_tags', [...foreign])].filter(
    ({ count }) => count > 0,
  );
}

function warning(code: ContentWarning['code'], names: readonly string[]): ContentWarning {
  return { code, count: names.length, names: names.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME)) };
}
