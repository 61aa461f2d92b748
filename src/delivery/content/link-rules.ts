/**
 * Link parameters (UTM). They are added to the links of a mail once per mailing, so that web statistics tell which visits came from the
 * mail.
 */
import type { LinkRules } from '../../database/schema/index.ts';
import { BLOCK_NAME } from './block-attributes.ts';
import { findHtmlRegions, isLink } from './html-regions.ts';
import { escapeHtml } from './merge.ts';
import type { MjmlNode } from './mjml.ts';

/** The maximum length of a link's name in characters. */
const MAX_NAME_CHARACTERS = 40;
/** The number of characters of HTML in which the end of a link is searched. */
const MAX_LINK_HTML = 4000;

/**
 * Matches a query parameter that signs a link or acts for somebody. Such a link stays as it is, because a further parameter could make it
 * invalid.
 */
const SIGNED_URL =
  /[?&;](?:sig|signature|sign|signed|hmac|hash|mac|token|jwt|auth|expires|policy|key-pair-id|x-amz-[a-z-]+|x-goog-[a-z-]+)=/i;
/** Matches a query that already has a link parameter. */
const UTM_PARAMETER = /[?&;]utm_[a-z_]+=/i;
/** Matches a web address whose host is written out. A merge tag in place of the host may bring a query of its own. */
const WEB_ADDRESS = /^https?:\/\/(?!\(\()[^\s/?#()]+(?:[/?#]|$)/i;

/**
 * Returns a design in which the links of named blocks have the parameters, with the name of the innermost named block as utm_content. Other
 * links stay as they are. `publicUrl` is the origin of this service, and `outer` is the name of the named block around the node.
 */
export function withBlockNames(node: MjmlNode, rules: LinkRules, publicUrl: string, outer = ''): MjmlNode {
  const { tagName, attributes, children, content } = node;
  const name = slug(attributes[BLOCK_NAME] ?? '') || outer;
  const { href } = attributes;
  // A social element's link is not changed: it may be only a part of the address at which something is shared.
  const isChanged = name !== '' && href !== undefined && tagName !== 'mj-social-element';
  return {
    tagName,
    attributes: isChanged ? { ...attributes, href: addParameters(href.trim(), rules, publicUrl, name) } : attributes,
    ...(children && { children: children.map((child) => withBlockNames(child, rules, publicUrl, name)) }),
    ...(content !== undefined && {
      content: name === '' ? content : withLinkParameters(content, rules, publicUrl, name),
    }),
  };
}

/**
 * Returns the HTML of a mail with the parameters added to its links. Links of this service, whose origin is `publicUrl`, stay as they are.
 * `name` is the utm_content of all links; if it is empty, each link has a name of its own.
 */
export function withLinkParameters(html: string, rules: LinkRules, publicUrl: string, name = ''): string {
  let from = 0;
  let changed = '';
  for (const region of findHtmlRegions(html).regions) {
    if (!isLink(region)) continue;
    const url = region.value.replace(/[\t\n]/g, '').trim();
    const full = addParameters(url, rules, publicUrl, name || (rules.content === 1 ? nameOf(html, region.end) : ''));
    if (full === url) continue;
    const written = escapeHtml(full);
    changed += html.slice(from, region.start) + (region.quoted ? written : `"${written}"`);
    from = region.end;
  }
  return changed + html.slice(from);
}

/**
 * Adds the parameters to a URL. A URL that is not a web address, belongs to this service, is signed, or has such parameters already is
 * returned unchanged. `content` is the name of the link; empty if the link has none.
 */
export function addParameters(url: string, rules: LinkRules, publicUrl: string, content = ''): string {
  if (!WEB_ADDRESS.test(url) || UTM_PARAMETER.test(url) || SIGNED_URL.test(url)) return url;
  if (publicUrl !== '' && (url === publicUrl || url.startsWith(`${publicUrl}/`))) return url;
  const hash = url.indexOf('#');
  const [before, fragment] = hash < 0 ? [url, ''] : [url.slice(0, hash), url.slice(hash)];
  const separator = separatorAfter(before);
  const contentParameter = content === '' ? '' : `&utm_content=${encodeURIComponent(content)}`;
  return `${before}${separator}${linkParameters(rules)}${contentParameter}${fragment}`;
}

/** Returns the character with which a parameter is appended to a URL without a fragment; empty if the URL already ends with it. */
function separatorAfter(url: string): string {
  if (!url.includes('?')) return '?';
  return /[?&]$/.test(url) ? '' : '&';
}

/** Returns the parameters that all links of a mail get, as the text of a query. */
export function linkParameters({ source, medium, campaign }: LinkRules): string {
  const parameters = { utm_source: source, utm_medium: medium, utm_campaign: campaign };
  return Object.entries(parameters)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
}

/** Returns the URL without the parameters that `addParameters` has added. */
export function withoutParameters(url: string, rules: LinkRules): string {
  const at = url.indexOf(linkParameters(rules));
  if (at <= 0 || !/[?&]/.test(url.charAt(at - 1))) return url;
  const after = url.slice(at + linkParameters(rules).length).replace(/^&utm_content=[^&#]*/, '');
  const before = url.slice(0, at);
  return `${before.endsWith('?') || before.endsWith('&') ? before.slice(0, -1) : before}${after}`;
}

/**
 * Returns the name of a link in lower case with hyphens: its text, or the alternative text of its image. `end` is the position in `html` at
 * which the link's URL ends.
 */
function nameOf(html: string, end: number): string {
  const start = html.indexOf('>', end) + 1;
  const part = html.slice(start, start + MAX_LINK_HTML);
  const close = part.search(/<\/a\b/i);
  const inner = close < 0 ? '' : part.slice(0, close);
  const text = inner.replace(/<[^<>]*>/g, ' ').replace(/\(\([^()]*\)\)|&#?\w+;/g, ' ');
  const alt = /\balt="([^"<>]*)"/i.exec(inner)?.[1] ?? '';
  return slug(text) || slug(alt);
}

/** Returns a name in lower case, with hyphens in place of all but letters and digits. */
function slug(name: string): string {
  const hyphenated = name
    .slice(0, MAX_LINK_HTML)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-/, '');
  // The name is cut between characters, because half of a surrogate pair cannot be encoded in a URL.
  return [...hyphenated].slice(0, MAX_NAME_CHARACTERS).join('').replace(/-$/, '');
}
