/**
 * Checks a mail before it is sent. A sent mail gets some of these checks too; only an unsent mail gets the checks of links, placeholders and
 * the postal address.
 */
import type { LinkRules } from '../../database/schema/index.ts';
import { MEBIBYTE } from '../../units.ts';
import { withoutParameters } from '../content/link-rules.ts';
import { type MjmlNode, parseMjml } from '../content/mjml.ts';
import { namesInCode } from '../content/names-in-code.ts';
import { encodedSize } from '../mime/attachments.ts';
import { checkSender, type HeaderFinding } from './header-checks.ts';
import { checkMail, checkSize, type Finding, type MailLink, readHtml } from './mail-checks.ts';
import { checkReading, MAX_PLACES, type NameSample, type ReadingFinding, sampleNames } from './reading-checks.ts';
import { findSampleText } from './sample-text.ts';

/** The result of a check that only unsent mail gets. `names` are inserted into the sentence that describes the result. */
export type ContentFinding =
  | { check: NamedCheck; isGood: boolean; values: NameSample }
  /** The size of a mail with attachments: `count` is the size of the whole mail, `limit` the largest good size, both in bytes. */
  | { check: 'attachments'; isGood: boolean; values: NameSample & { limit: number } };

type NamedCheck = 'urls' | 'leave' | 'address' | 'addressLacks' | 'unknown' | 'foreign' | 'values' | 'sample';

/** A mail with attachments that has more bytes takes notably long to send and to load. */
const HEAVY_BYTES = MEBIBYTE;

/** Facts about the account and the previewed contact that the checks need in addition to the mail. */
export interface CheckContext {
  /** Placeholders for which the previewed contact has no value. */
  readonly withoutValue: readonly string[];
  /** The names of all placeholders. */
  readonly known: readonly string[];
  /** Placeholders for which no contact can have a value. */
  readonly unknown: NameSample;
  /** Merge tags of other services. */
  readonly foreign: NameSample;
  /** The first line of the sender's postal address. */
  readonly address: string;
  /** The names of the parts that the postal address lacks. */
  readonly lacking: readonly string[];
  /** The MJML, as JSON, from which the mail was compiled; empty if it was not compiled from MJML. */
  readonly template: string;
  /** The sender's address; empty if there is none yet. */
  readonly from: string;
  /** The sizes of the mail's attachments in bytes. */
  readonly attached: readonly number[];
  /** The parameters that were added to the mail's links, and that findings omit; null if none were added. */
  readonly linkRules: LinkRules | null;
}

/** The path of the preference page in a preview, where there is no recipient yet. */
const PREFERENCES_PREVIEW = '/u/preview';
/** The path of the web copy in a preview. */
const WEB_COPY_PREVIEW = '/w/preview';

/** A finding of the checks that a mail in the outbox gets, too. */
export type SharedFinding = Finding & { check: Exclude<Finding['check'], 'unsubscribe'> };

interface Merged {
  html: string;
  text: string;
  subject: string;
}

/**
 * Checks a mail as one contact of its audience would receive it. `all` is the mail with all branches of its conditions, which most checks
 * read. The size, what Gmail clips, the unsubscribe link and the postal address are checked in the mail to the contact. Of the findings,
 * `shared` are about what makes a mail hard to read, `own` are those that only an unsent mail gets, and `further` are about reading and the
 * sender.
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
      .map((finding) => {
        if (finding.check === 'images') return withUndescribedImages(finding, template);
        return finding.check === 'size' ? checkSize(size) : finding;
      }),
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
      ...(attached.length > 0 ? [checkWholeSize(size + Buffer.byteLength(text), attached)] : []),
    ],
    further: [
      ...checkReading({ ...content, bytesBefore: readHtml(html).bytesBefore }, { subject: all.subject, size }),
      checkSender(from),
    ],
  };
}

/** Checks the size of a mail with attachments. `textSize` is the size of its HTML and plain text in bytes. */
function checkWholeSize(textSize: number, attached: readonly number[]): ContentFinding {
  const count = textSize + encodedSize(attached);
  return { check: 'attachments', isGood: count <= HEAVY_BYTES, values: { count, names: [], limit: HEAVY_BYTES } };
}

/**
 * Adds the design's images without an alternative text to a finding. The HTML does not show them, because MJML gives them an empty
 * alternative text, as if they were decorative.
 */
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
 * Finds the links of a mail that lead nowhere: links with a draft's placeholder, and links that are neither an e-mail address nor a phone
 * number nor a web address whose host has a dot. A link that begins with a merge tag without a value is no finding, because it may lead anywhere.
 */
export function findBadUrls(links: readonly MailLink[]): NameSample {
  return sampleNames(
    links
      .map(({ url }) => url.trim())
      .filter((url) => !url.startsWith('((') && (!isReachable(url) || DRAFT_URL.test(url))),
  );
}

/** A text such as `[link]` or `your-url`, which a draft has in a link until the address is known. */
const DRAFT_URL = /\[[^\]]{0,60}\]|\b(?:insert|your|todo|placeholder)[-_]?(?:url|link)\b|\bTODO\b/i;

function isReachable(url: string): boolean {
  if (/^(?:mailto:[^@\s]+@[^@\s]+|tel:\+?[\d\s()-]+)/i.test(url)) return true;
  if (url.includes(PREFERENCES_PREVIEW) || url.includes(WEB_COPY_PREVIEW)) return true;
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

/** The number of characters of each text that are searched for tags of other services. The limit bounds the cost of hostile text. */
const MAX_SEARCHED = 128 * 1024;
/** Matches `*|FNAME|*`, `{{ first_name }}` and `%recipient.name%`, but not text between two percent signs of an encoded URL. */
const FOREIGN_TAGS = [/\*\|[A-Z0-9_:]{1,60}\|\*/gi, /\{\{[^{}\n]{1,60}\}\}/g, /%[a-z][a-z_.]{2,40}%(?![0-9a-f]{2})/gi];

/**
 * Returns the warnings about the texts and template code of a mail. `known` lists the placeholders that can have a value; null allows any.
 */
export function contentWarnings(texts: readonly string[], known: readonly string[] | null): ContentWarning[] {
  const used = known === null ? [] : namesInCode(texts);
  const unknown = used.filter((name) => !known?.includes(name));
  const foreign = new Set(
    texts.flatMap((text) => FOREIGN_TAGS.flatMap((tag) => text.slice(0, MAX_SEARCHED).match(tag) ?? [])),
  );
  return [warning('unknown_placeholders', unknown), warning('foreign_tags', [...foreign])].filter(
    ({ count }) => count > 0,
  );
}

function warning(code: ContentWarning['code'], names: readonly string[]): ContentWarning {
  return { code, ...sampleNames(names), names: [...sampleNames(names).names] };
}
