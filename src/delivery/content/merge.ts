/** Placeholders: finds ((name)) and ((name|default)) and puts values in their place, encoded for where they stand. */

/** What placeholders resolve to, by name. A name that is absent or empty takes the placeholder's default. */
export type Values = Readonly<Record<string, string>>;

/** What of a URL may be written before a placeholder that gives the rest. */
type Scheme = 'http://' | 'https://' | 'mailto:' | 'tel:';

/**
 * A placeholder: `place` says whether it stands in running text, inside a URL, where a URL begins, or for what follows a scheme: then
 * it stands for the scheme too, which the value may repeat.
 */
export interface Slot {
  readonly name: string;
  readonly fallback: string;
  readonly place: 'text' | 'url' | 'url-start' | Scheme;
}

/** Text cut at its placeholders. It is plain data: it survives JSON and structured cloning. */
export type Template = readonly (string | Slot)[];

/** The recipient's preference page, a name owners write themselves. */
export const PREFERENCES = 'unsubscribe_preferences';
/** The recipient's mail in a browser, likewise. */
export const WEB_COPY = 'web_copy';

// Names that only the compiler makes: '#' cannot be written in a placeholder.
/** The address that counts an open. */
export const OPEN_URL = '#open';
/** The address that counts a click, up to the number of the link. */
export const CLICK_URL = '#click';

/** Of `https://`, in characters, each written as a reference. */
const LONGEST_SCHEME = 60;

// Every repetition is bounded and no two of them can match the same text, so hostile input costs linear time.
const placeholder = /\(\([ \t]{0,8}(\w{1,255})[ \t]{0,8}(?:\|([^()|]{0,1000}))?\)\)/g;

/**
 * Cuts text at its placeholders in a single pass.
 * @param kind `url` when the text is one URL (or the attribute that holds it): its values are URL-encoded.
 * @param decode turns a default as written into plain text, for sources that are escaped.
 */
export function scan(text: string, kind: 'text' | 'url' = 'text', decode = (raw: string) => raw): Template {
  const pieces: (string | Slot)[] = [];
  let from = 0;
  for (const match of text.matchAll(placeholder)) {
    const [whole, name = '', fallback = ''] = match;
    const end = match.index + whole.length;
    const place = kind === 'text' ? 'text' : from > 0 ? 'url' : placeInUrl(text, match.index, end, decode);
    // The slot stands for its scheme too.
    if (match.index > from && !isScheme(place)) pieces.push(text.slice(from, match.index));
    pieces.push({ name, fallback: decode(fallback), place });
    from = end;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

/** Where in a URL its first placeholder stands, by what is before it and the character after it. */
function placeInUrl(text: string, start: number, end: number, decode: (raw: string) => string): Slot['place'] {
  const raw = text.slice(0, start).trim();
  if (raw === '') return 'url-start';
  if (raw.length > LONGEST_SCHEME) return 'url';
  const before = decode(raw);
  const next = text.charAt(end);
  const scheme = /^(?:(https?:)?\/\/|mailto:|tel:)$/i.exec(before);
  // What goes on as a host's name, such as `https://((shop)).example.com`, is to stay in that domain.
  if (scheme === null || (before.endsWith('//') && !/^[/?#\s]?$/.test(next))) return 'url';
  return schemeOf(scheme[1] ?? before);
}

function schemeOf(text: string): Scheme {
  const schemes: Readonly<Record<string, Scheme>> = { 'http:': 'http://', 'mailto:': 'mailto:', 'tel:': 'tel:' };
  return schemes[text.toLowerCase()] ?? 'https://';
}

function isScheme(place: Slot['place']): place is Scheme {
  return place.endsWith(':') || place.endsWith('//');
}

/** The distinct placeholder names of some templates, in order of appearance. */
export function placeholderNames(templates: readonly Template[]): string[] {
  const names = templates.flat().flatMap((piece) => (typeof piece === 'string' ? [] : [piece.name]));
  return [...new Set(names)];
}

/** What stands in a slot's place before the escaping of its format: the value or default, URL-encoded inside URLs. */
export function resolve(slot: Slot, value: string | undefined): string {
  // A name like `constructor` finds something that is no string on an ordinary object.
  const text = typeof value === 'string' && value !== '' ? value : slot.fallback;
  switch (slot.place) {
    case 'text':
      return text;
    case 'url':
      return encodeURIComponent(wellFormed(text));
    case 'url-start':
      return webAddress(text);
    case 'mailto:':
      return `mailto:${encodeURIComponent(wellFormed(text.trim().replace(/^mailto:/i, ''))).replaceAll('%40', '@')}`;
    case 'tel:':
      return `tel:${encodeURIComponent(wellFormed(text.replace(/^\s*tel:|\s+/gi, ''))).replaceAll('%2B', '+')}`;
    default:
      return webAddress(/^\s*https?:\/\//i.test(text) ? text : slot.place + text.trim().replace(/^\/\//, ''));
  }
}

/** Merges a text template: values as they are. */
export function mergeText(template: Template, values: Values): string {
  return merge(template, values, (text) => text);
}

/** Merges an HTML template: values escaped. */
export function mergeHtml(template: Template, values: Values): string {
  return merge(template, values, escapeHtml);
}

/** Merges one line of text, such as a subject: line breaks and control characters become spaces, the ends are trimmed. */
export function mergeLine(text: string, values: Values): string {
  return foldToOneLine(mergeText(scan(text), values));
}

/**
 * Merges a link's stored URL, placeholders and all, for a redirect.
 * @returns an absolute http or https URL in ASCII, or null where none results.
 */
export function mergeUrl(url: string, values: Values): string | null {
  const merged = mergeText(scan(url, 'url'), values);
  const parsed = URL.canParse(merged) ? new URL(merged) : null;
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.href : null;
}

/** Makes text safe for a header: runs of line breaks and control characters become one space, the ends are trimmed. */
export function foldToOneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
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
  return template
    .map((piece) => (typeof piece === 'string' ? piece : encode(resolve(piece, values[piece.name]))))
    .join('');
}

// A URL given by a value: kept as it is apart from characters no URL has; empty when its scheme is not a harmless one. People leave
// out the scheme of a website.
function webAddress(text: string): string {
  const given = text.trim();
  const url = /^(?:[\p{L}\p{N}-]{1,63}\.){1,9}\p{L}{2,63}(?:[/?#]|$)/u.test(given) ? `https://${given}` : given;
  if (/^https?:\/\/[\w.~:/?#@!$()*+,;=%-]*$/.test(url)) return url;
  if (!/^(?:https?:\/\/|mailto:|tel:)/i.test(url)) return '';
  return wellFormed(url).replace(/[^\w.~:/?#[\]@!$&'()*+,;=%-]/gu, encodeURIComponent);
}

// encodeURIComponent throws on half a surrogate pair.
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
