/** Compiles a template to content: HTML with preheader, footer and pixel added, split into merge templates at its placeholders. */

import { Parser } from 'htmlparser2';
import { sentence } from '../../errors/sentences.ts';
import { MEBIBYTE } from '../../units.ts';
import { type Content, ContentError, type ContentSource } from '../content/compiled-content.ts';
import { FOOTER_LINK_MARK, footerFor, footerLinkPlaceholder, topLinkFor } from '../content/footer.ts';
import { decodeText, findHtmlRegions, htmlConditionProblem, isLink, type Region } from '../content/html-regions.ts';
import { LEFT_OUT } from '../content/left-out.ts';
import { withBlockNames, withLinkParameters } from '../content/link-rules.ts';
import { escapeHtml } from '../content/merge.ts';
import { parseMjml, renderMjml } from '../content/mjml.ts';
import {
  CLICK_URL,
  conditionProblem,
  OPEN_URL,
  type Placeholder,
  PREFERENCES,
  placeholderNames,
  placeholderProblem,
  scan,
  type Template,
  unconditionalPieces,
  WEB_COPY,
  withBranches,
  withoutMarks,
} from '../content/placeholders.ts';
import { plainText } from '../content/plain-text.ts';
import { TRAP_LINK, trapHtml } from '../links/trap-link.ts';

/**
 * Compiles content in the calling thread. Templates may be huge or hostile, so use `compileContent`, which compiles in a worker thread with
 * limits.
 * @throws ContentError
 */
export async function buildContent(source: ContentSource): Promise<Content> {
  const tidied = tidy(await sourceHtml(source));
  const { linkRules, publicUrl = '' } = source;
  const written = linkRules ? withLinkParameters(tidied, linkRules, publicUrl) : tidied;
  const problem = placeholderProblem(written);
  if (problem !== null) throw new ContentError(problem);
  const conditionFault =
    conditionProblem(source.subject) ?? conditionProblem(source.preheader) ?? htmlConditionProblem(written);
  if (conditionFault !== null) throw new ContentError(conditionFault);
  const { html, footerLink } = withAdditions(written, source);
  checkHtmlDepth(html);
  const links = new Map((source.numberedLinks ?? []).map((url, number) => [url, number]));

  /** Returns the placeholder and the number that replace a tracked link; null for a link that is not tracked. */
  function tracked(url: string): Template | null {
    const target = url.replace(/[\t\n]/g, '').trim();
    if (!source.tracking || !/^https?:\/\//i.test(target)) return null;
    if (placeholderNames([scan(target)]).some((name) => name === PREFERENCES || name === WEB_COPY)) return null;
    const number = links.get(target) ?? links.size;
    links.set(target, number);
    return [internalPlaceholder(CLICK_URL), String(number)];
  }

  const htmlTemplate = withBranches(joinTexts(withFooterLink(htmlPieces(html, tracked), footerLink)));
  const textTemplate = withBranches(
    joinTexts(
      withFooterLink(
        plainText(html, (url) => scan(url, 'url')),
        footerLink,
      ),
    ),
  );
  const pieces = [...htmlTemplate, ...textTemplate];
  const characters = pieces.reduce((sum, piece) => sum + (typeof piece === 'string' ? piece.length : 0), 0);
  if (characters > MAX_CHARACTERS) throw new ContentError(sentence('content_long'));
  const targets = [...links.keys()];
  const placeholders = placeholderNames([
    scan(source.subject),
    htmlTemplate,
    textTemplate,
    ...targets.map((url) => scan(url)),
  ]);
  return {
    subject: source.subject,
    html: htmlTemplate,
    text: textTemplate,
    links: targets,
    placeholders: placeholders.filter((name) => name !== CLICK_URL && name !== OPEN_URL),
  };
}

/**
 * The maximum number of characters in both parts together, before merging. The limit is needed because a design of a few kilobytes can
 * compile to many times its size.
 */
const MAX_CHARACTERS = 8 * MEBIBYTE;

async function sourceHtml(source: ContentSource): Promise<string> {
  const { template_json, template_html, preheader, linkRules, publicUrl = '' } = source;
  if (template_json) {
    const design = parseMjml(withPublicPictures(template_json, publicUrl));
    return renderMjml(linkRules?.content ? withBlockNames(design, linkRules, publicUrl) : design, preheader === '');
  }
  if (!template_html?.trim()) throw new ContentError(sentence('content_empty'));
  return withPublicPictures(template_html, publicUrl);
}

/** Matches the origin of this machine in front of the path of an image in the library. */
const LOCAL_PICTURE =
  /https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?(?=\/pictures\/[0-9a-f]{32}\/)/g;

/** Replaces the local URL of images by the public URL. Images have a local URL if they were inserted before a public URL was set. */
function withPublicPictures(code: string, publicUrl: string): string {
  return publicUrl === '' ? code : code.replace(LOCAL_PICTURE, () => publicUrl);
}

/**
 * Removes characters that HTML does not allow, so that our own marks cannot occur in the source. Also removes indentation, which makes up a
 * fifth of many templates, unless the page may display it.
 */
function tidy(html: string): string {
  const clean = html.replace(/\r\n?/g, '\n').replace(LEFT_OUT, '');
  if (/<pre|<textarea|white-space/i.test(clean)) return clean;
  return clean.replace(/^[ \t]+/gm, '').replace(/\n{2,}/g, '\n');
}

/** These marks stand for the URLs of the pixel and the trap link. They are noncharacters, which `tidy` removes from the source. */
const pixelMark = '\ufdd2';
const trapMark = '\ufdd3';
const pixel = `<img src="${pixelMark}" width="1" height="1" alt="" style="display:block;border:0">`;

/**
 * Returns the HTML with the preheader, the pixel, the footer and the trap link added, and the placeholder that takes the place of the
 * footer's mark.
 */
function withAdditions(html: string, source: ContentSource): { html: string; footerLink: Placeholder } {
  const { regions, bodyStart, bodyEnd } = findHtmlRegions(html);
  const shownRegions = regions.filter((region) => region.visible && (!region.attribute || isLink(region)));
  // A placeholder that a condition hides from some contacts does not count.
  const shown = placeholderNames([unconditionalPieces(withBranches(shownRegions.flatMap(({ value }) => scan(value))))]);
  const hasFooter = shown.includes(PREFERENCES) && shown.includes('sender_address');
  const links = regions.filter(isLink).length;
  const isClipped = Buffer.byteLength(html) + (source.tracking ? links * CLICK_BYTES : 0) > CLIPPED_BYTES;
  const topLink = source.footer && isClipped ? topLinkFor(regions, source.footerLanguage) : '';
  // The text that inboxes show next to the subject must not be the text of the preference link.
  const preview = (escapeHtml(source.preheader) || (topLink && firstWords(regions))) + (topLink && FILLER);
  const extended = [
    html.slice(0, bodyStart),
    preview && hidden(preview),
    source.tracking ? pixel : '',
    topLink,
    html.slice(bodyStart, bodyEnd),
    source.footer && !hasFooter ? footerFor(regions, source.footerLanguage) : '',
    source.tracking ? trapHtml(trapMark) : '',
    html.slice(bodyEnd),
    html.endsWith('\n') ? '' : '\n',
  ].join('');
  return { html: extended, footerLink: footerLinkPlaceholder(regions, source.footerLanguage) };
}

/**
 * The size in bytes from which everything that must be seen or loaded goes to the top of a mail. Gmail clips mails after 102 kB of HTML.
 */
const CLIPPED_BYTES = 100_000;
/** The approximate length of a tracked link's URL in bytes. */
const CLICK_BYTES = 100;
/** Blanks that mail clients do not collapse, enough to fill the preview text in an inbox. */
const FILLER = '&#847;&zwnj;&nbsp;'.repeat(100);
const PREVIEW_CHARACTERS = 150;

function hidden(content: string): string {
  return `<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">${content}</div>`;
}

/** Returns the first words of a mail, as HTML. No character reference or placeholder is cut. */
function firstWords(regions: readonly Region[]): string {
  let words = '';
  for (const { attribute, visible, value } of regions) {
    if (attribute !== null || !visible) continue;
    words = `${words} ${withoutMarks(value.slice(0, 10 * PREVIEW_CHARACTERS))}`.replace(/\s+/g, ' ').trimStart();
    if (words.length > PREVIEW_CHARACTERS) break;
  }
  return words.slice(0, PREVIEW_CHARACTERS).replace(/(?:&#?\w*|\(\(?[^()]*\)?|[\ud800-\udbff])$/, '');
}

/** The URLs that replace our own marks, as templates. */
const MARK_URLS = new Map<string, Template>([
  [pixelMark, [internalPlaceholder(OPEN_URL)]],
  [trapMark, [internalPlaceholder(CLICK_URL), String(TRAP_LINK)]],
]);

const urlAttributes = new Set(['href', 'src', 'background', 'action']);

function htmlPieces(html: string, tracked: (url: string) => Template | null): Template {
  const pieces: (string | Placeholder)[] = [];
  let from = 0;
  for (const region of findHtmlRegions(html).regions) {
    const raw = html.slice(region.start, region.end);
    const replacement = MARK_URLS.get(raw) ?? ((isLink(region) && tracked(region.value)) || placeholders(region, raw));
    if (!replacement) continue;
    pieces.push(
      html.slice(from, region.start),
      ...(region.attribute && !region.quoted ? quoted(replacement) : replacement),
    );
    from = region.end;
  }
  return [...pieces, html.slice(from)];
}

function placeholders(region: Region, raw: string): Template | null {
  if (!raw.includes('((')) return null;
  return scan(raw, region.attribute && urlAttributes.has(region.attribute) ? 'url' : 'text', decodeText);
}

/** Returns the value of an unquoted attribute in quotes, because a merged value may contain spaces, which would end the attribute. */
function quoted(replacement: Template): Template {
  return [
    '"',
    ...replacement.map((piece) => (typeof piece === 'string' ? piece.replaceAll('"', '&quot;') : piece)),
    '"',
  ];
}

function internalPlaceholder(name: string): Placeholder {
  return { name, fallback: '', place: 'url-start' };
}

/** Returns the template with this placeholder for each mark of a footer. */
function withFooterLink(template: Template, placeholder: Placeholder): Template {
  return template.flatMap((piece) =>
    typeof piece === 'string' && piece.includes(FOOTER_LINK_MARK)
      ? piece.split(FOOTER_LINK_MARK).flatMap((text, at) => (at === 0 ? [text] : [placeholder, text]))
      : [piece],
  );
}

function joinTexts(template: Template): Template {
  const pieces: (string | Placeholder)[] = [];
  for (const piece of template) {
    const last = pieces.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') pieces[pieces.length - 1] = last + piece;
    else if (piece !== '') pieces.push(piece);
  }
  return pieces;
}

/** The maximum depth of nested elements. Real mails stay below a hundred levels, including their layout tables. */
const MAX_DEPTH = 1000;

/** Throws ContentError if elements are nested too deeply. Elements that HTML closes implicitly count as closed. */
function checkHtmlDepth(html: string): void {
  let depth = 0;
  const parser = new Parser({
    onopentag() {
      if (++depth > MAX_DEPTH) throw new ContentError(sentence('content_nested', { count: MAX_DEPTH }));
    },
    onclosetag() {
      depth--;
    },
  });
  parser.end(html);
}
