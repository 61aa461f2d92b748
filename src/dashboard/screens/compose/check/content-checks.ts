/** What can be said of a mail before it is sent: what the checks of a sent mail say, and its links, placeholders and postal address. */
import { type MjmlNode, parseMjml } from '../../../../delivery/content/mjml.ts';
import { checkMail, type Finding } from '../../../mail-checks.ts';

/** The mail as one person of the audience would get it. */
export interface ShownMail {
  contact_id: number | null;
  subject: string;
  html: string;
  text: string;
  placeholders_without_value: string[];
  problem: string | null;
}

/** The result of a check that only a mail to be sent gets. `names` are put into the sentence about it. */
export interface ContentFinding {
  check: 'urls' | 'leave' | 'address' | 'addressLacks' | 'unknown' | 'values';
  isGood: boolean;
  values: { count: number; names: string };
}

/** The address of the preference page in a mail that nobody got yet. */
const PREFERENCES_PREVIEW = '/u/preview';
const MOST_NAMES = 5;
const MAX_NAME = 80;

/**
 * Looks at a mail; `known` are the names of all placeholders, `address` the first line of the sender's postal address, `lacking` the
 * names of what that address lacks, `template` the MJML in JSON that it was made of, if any.
 */
export function checkContent(
  { html, text, placeholders_without_value: withoutValue }: ShownMail,
  {
    known,
    address,
    lacking = [],
    template = '',
  }: { known: readonly string[]; address: string; lacking?: readonly string[]; template?: string },
): { shared: Finding[]; own: ContentFinding[] } {
  const { links, findings } = checkMail({ html, text, headers: [] });
  const unknown = withoutValue.filter((name) => !known.includes(name));
  const empty = withoutValue.filter((name) => known.includes(name));
  const finding = (check: ContentFinding['check'], wrong: readonly string[]): ContentFinding => {
    const names = wrong.slice(0, MOST_NAMES).map((name) => name.slice(0, MAX_NAME) || '–');
    return { check, isGood: wrong.length === 0, values: { count: wrong.length, names: names.join(', ') } };
  };
  const isIn = address !== '' && oneLine(text).includes(oneLine(address));
  return {
    // The headers for unsubscribing are on every mail when it is sent.
    shared: findings
      .filter(({ check }) => check !== 'unsubscribe')
      .map((found) => (found.check === 'images' ? withSilent(found, template) : found)),
    own: [
      finding('leave', html.includes(PREFERENCES_PREVIEW) ? [] : ['']),
      isIn && lacking.length > 0 ? finding('addressLacks', lacking) : finding('address', isIn ? [] : ['']),
      finding(
        'urls',
        links.map(({ url }) => url.trim()).filter((url) => !isReachable(url)),
      ),
      finding('unknown', unknown),
      finding('values', empty),
    ],
  };
}

/** Counts pictures of a design, too, of which nobody said that they are decoration: MJML gives them an empty text. */
function withSilent(found: Finding, template: string): Finding {
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
