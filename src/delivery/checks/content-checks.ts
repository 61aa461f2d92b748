/** Checks of a mail before it is sent: those that a sent mail gets too, and checks of its links, placeholders and postal address. */

import type { LinkRules } from '../../database/schema/index.ts';
import { withoutParameters } from '../content/link-rules.ts';
import { placeholderNames, scan } from '../content/merge.ts';
import { type MjmlNode, parseMjml } from '../content/mjml.ts';
import { encodedSize } from '../mime/attachments.ts';
import { checkSender, type HeaderFinding } from './header-checks.ts';
import { checkMail, checkSize, type Finding, type MailLink, readHtml } from './mail-checks.ts';
import { checkReading, MAX_PLACES, type NameSample, type ReadingFinding, sampleNames } from './reading-checks.ts';
import { findSampleText } from './sample-text.ts';

/** The result of a check that only unsent mail gets. `names` are inserted into the sentence that describes the result. */
export type ContentFinding =
  | { check: NamedCheck; isGood: boolean; values: NameSample }
  /** Only of a mail with attachments: `count` is the size of the whole mail in bytes. */
  | { check: 'attachments'; isGood: boolean; values: NameSample & { limit: number } };

type NamedCheck = 'urls' | 'leave' | 'address' | 'addressLacks' | 'unknown' | 'foreign' | 'values' | 'sample';

/** A mail with attachments of more bytes than this takes notably long to send and to load. */
const HEAVY_BYTES = 1024 * 1024;

/** Facts about the account and the previewed contact that the checks need in addition to the mail. */
export interface CheckContext {
  /** Placeholders for which the previewed contact has no value. */
  readonly withoutValue: readonly string[];
  /** The names of all placeholders. */
  readonly known: readonly string[];
  /** Placeholders that no contact can have a value for, and merge tags of other services. */
  readonly unknown: NameSample;
  readonly foreign: NameSample;
  /** The first line of the sender's postal address. */
  readonly address: string;
  /** The names of the parts that the postal address lacks. */
  readonly lacking: readonly string[];
  /** The MJML, as JSON, from which the mail was compiled; empty if it was not compiled from MJML. */
  readonly template: string;
  /** The sender's address; empty if there is none yet. */
  readonly from: string;
  /** The sizes of its attachments in bytes. */
  readonly attached: readonly number[];
  /** The parameters that its links got, which findings omit; null: none. */
  readonly linkRules: LinkRules | null;
}

/** The path of the preference page in a preview, where there is no recipient yet. */
const PREFERENCES_PREVIEW = '/u/preview';

/** The checks that a mail in the outbox gets, too. */
export type SharedFinding = Finding & { check: Exclude<Finding['check'], 'unsubscribe'> };

interface Merged {
  html: string;
  text: string;
  subject: string;
}

/**
 * Checks a mail as one contact of its audience would receive it. `all` is the mail with all branches of its conditions, which most checks
 * read. The size, what Gmail clips, the unsubscribe link and the postal address are checked in the mail to the contact.
 */
export function checkContent(
  { html, text }: Pick<Merged, 'html' | 'text'>,
  all: Merged,
  { withoutValue, known, unknown, foreign, address, lacking, template, from, attached, linkRules }: CheckContext,
): { shared: SharedFinding[]; own: ContentFinding[]; further: (ReadingFinding | HeaderFinding)[] } {
  const { findings, ...sent } = checkMail({ html: all.html, text: all.text, headers: [] });
  const links = sent.links.map(({ url, text }) => ({ url: linkRules ? withoutParameters(url, linkRules) : url, text }));
  const content = { ...sent, links };
  const size = Buffer.byteLength(html);
  const finding = (check: NamedCheck, { count, names }: NameSample): ContentFinding => ({
    check,
    isGood: count === 0,
    values: { count, names },
  });
  const isAddressIncluded = address !== '' && oneLine(text).includes(oneLine(address));
  return {
    // Sending adds the unsubscribe headers to every mail, so this check is skipped here.
    shared: findings
      .filter((finding): finding is SharedFinding => finding.check !== 'unsubscribe')
      .map((finding) =>
        finding.check === 'images'
          ? withUndescribedImages(finding, template)
          : finding.check === 'size'
            ? checkSize(size)
            : finding,
      ),
    own: [
      finding('leave', { count: html.includes(PREFERENCES_PREVIEW) ? 0 : 1, names: [] }),
      isAddressIncluded && lacking.length > 0
        ? finding('addressLacks', sampleNames(lacking))
        : finding('address', { count: isAddressIncluded ? 0 : 1, names: [] }),
      finding('urls', findBadUrls(content.links)),
      finding('unknown', unknown),
      finding('foreign', foreign),
      finding('values', sampleNames(withoutValue.filter((name) => known.includes(name)))),
      finding('sample', sampleNames(findSampleText(content), MAX_PLACES)),
      ...(attached.length > 0 ? [weighed(size + Buffer.byteLength(text), attached)] : []),
    ],
    further: [
      ...checkReading({ ...content, bytesBefore: readHtml(html).bytesBefore }, { subject: all.subject, size }),
      checkSender(from),
    ],
  };
}

/** `size` is that of the texts in bytes. */
function weighed(size: number, attached: readonly number[]): ContentFinding {
  const count = size + encodedSize(attached);
  return { check: 'attachments', isGood: count <= HEAVY_BYTES, values: { count, names: [], limit: HEAVY_BYTES } };
}

/** Also counts the design's images without an alternative text: MJML writes an empty one into the HTML, as if the image were decorative. */
function withUndescribedImages(finding: SharedFinding, template: string): SharedFinding {
  // The mail was compiled from this template, so parsing it cannot fail.
  const count = finding.values.count + (template === '' ? 0 : countUndescribedImages(parseMjml(template)));
  return { ...finding, isGood: count === 0, values: { ...finding.values, count } };
}

function countUndescribedImages({ tagName, attributes, children = [] }: MjmlNode): number {
  const lacksAlternativeText =
    tagName === 'mj-image' && attributes.alt === undefined && attributes['data-decoration'] === undefined;
  return children.reduce((count, child) => count + countUndescribedImages(child), lacksAlternativeText ? 1 : 0);
}

/**
 * Finds the links of a mail that lead nowhere: those without a web address with a dot in its host, an e-mail address or
 * a phone number, and those with a draft's placeholder. A link that begins with a merge tag without a value may lead
 * anywhere.
 */
export function findBadUrls(links: readonly MailLink[]): NameSample {
  return sampleNames(
    links
      .map(({ url }) => url.trim())
      .filter((url) => !url.startsWith('((') && (!isReachable(url) || DRAFT_URL.test(url))),
  );
}

/** What drafts have in a link until its address is known. */
const DRAFT_URL = /\[[^\]]{0,60}\]|\b(?:insert|your|todo|placeholder)[-_]?(?:url|link)\b|\bTODO\b/i;

function isReachable(url: string): boolean {
  if (/^(?:mailto:[^@\s]+@[^@\s]+|tel:\+?[\d\s()-]+)/i.test(url)) return true;
  if (url.includes('/u/preview') || url.includes('/w/preview')) return true;
  const parsed = URL.canParse(url) ? new URL(url) : null;
  return parsed !== null && /^https?:$/.test(parsed.protocol) && /\.\p{L}[\p{L}\p{N}-]+\.?$/u.test(parsed.hostname);
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

export interface ContentWarning {
  code: 'unknown_placeholders' | 'foreign_tags';
  /** The number of distinct names found. */
  count: number;
  /** The first few names. */
  names: string[];
}

/** Each text is searched for tags of other services only up to this length, which limits the cost of hostile text. */
const MAX_SEARCHED = 128 * 1024;
/** Matches `*|FNAME|*`, `{{ first_name }}` and `%recipient.name%`, but not text between two percent signs of an encoded URL. */
const FOREIGN = [/\*\|[A-Z0-9_:]{1,60}\|\*/gi, /\{\{[^{}\n]{1,60}\}\}/g, /%[a-z][a-z_.]{2,40}%(?![0-9a-f]{2})/gi];

/**
 * Returns the warnings about the texts and template code of a mail. `known` lists the placeholders that can have a value; null allows any.
 */
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
  return { code, ...sampleNames(names), names: [...sampleNames(names).names] };
}
