/** Replaces placeholders with values, encoded for their context: text, HTML or a URL. */
import { chosenPieces, type Placeholder, scan, type Template } from './placeholders.ts';

/** The values of placeholders by name. If a value is absent or empty, the placeholder's default is used. */
export type Values = Readonly<Record<string, string>>;

/** Returns the text for a placeholder before HTML escaping: the value or the default, URL-encoded inside URLs. */
export function resolve(placeholder: Placeholder, value: string | undefined): string {
  // On a plain object, a name like `constructor` finds an inherited member, which is not a string.
  const text = typeof value === 'string' && value !== '' ? value : placeholder.fallback;
  switch (placeholder.place) {
    case 'text':
      return text;
    case 'url':
      return encodeURIComponent(wellFormed(text));
    case 'url-start':
      return toWebUrl(text);
    case 'mailto:':
      return `mailto:${encodeURIComponent(wellFormed(text.trim().replace(/^mailto:/i, ''))).replaceAll('%40', '@')}`;
    case 'tel:':
      return `tel:${encodeURIComponent(wellFormed(text.replace(/^\s*tel:|\s+/gi, ''))).replaceAll('%2B', '+')}`;
    default:
      return toWebUrl(/^\s*https?:\/\//i.test(text) ? text : placeholder.place + text.trim().replace(/^\/\//, ''));
  }
}

/** Merges a text template. Values are not escaped. */
export function mergeText(template: Template, values: Values): string {
  return merge(template, values, (text) => text);
}

/** Merges an HTML template. Values are escaped. */
export function mergeHtml(template: Template, values: Values): string {
  return merge(template, values, escapeHtml);
}

/** Merges a single line of text, such as a subject: line breaks and control characters become spaces, and the result is trimmed. */
export function mergeLine(text: string, values: Values): string {
  return foldToOneLine(mergeText(scan(text), values));
}

/**
 * Merges the stored URL of a link that contains placeholders, for a redirect.
 * @returns an absolute http or https URL in ASCII, or null if the result is not one.
 */
export function mergeUrl(url: string, values: Values): string | null {
  const merged = mergeText(scan(url, 'url'), values);
  const parsed = URL.canParse(merged) ? new URL(merged) : null;
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.href : null;
}

/** Makes text safe for a header: each run of line breaks and control characters becomes one space, and the result is trimmed. */
export function foldToOneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed
  return text.replace(/[\0-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ').trim();
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML content and quoted attributes. */
export function escapeHtml(text: string): string {
  return /[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (character) => entities[character] ?? '') : text;
}

function merge(template: Template, values: Values, encode: (text: string) => string): string {
  return chosenPieces(template, (name) => values[name])
    .map((piece) => (typeof piece === 'string' ? piece : encode(resolve(piece, values[piece.name]))))
    .join('');
}

/**
 * Returns a URL made from a value. Characters that URLs do not allow are encoded, and a missing scheme is added. The URL is empty if its
 * scheme could run code.
 */
function toWebUrl(text: string): string {
  const trimmed = text.trim();
  const url = /^(?:[\p{L}\p{N}-]{1,63}\.){1,9}\p{L}{2,63}(?:[/?#]|$)/u.test(trimmed) ? `https://${trimmed}` : trimmed;
  if (/^https?:\/\/[\w.~:/?#@!$()*+,;=%-]*$/.test(url)) return url;
  if (!/^(?:https?:\/\/|mailto:|tel:)/i.test(url)) return '';
  return wellFormed(url).replace(/[^\w.~:/?#[\]@!$&'()*+,;=%-]/gu, encodeURIComponent);
}

/** Returns text without lone surrogates, because encodeURIComponent throws on these. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
