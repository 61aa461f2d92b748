/**
 * Finds the placeholders of a text, ((name)) and ((name|default)), and its conditions, which decide which parts of the text a contact
 * gets: ((if …)), ((else)) and ((end)).
 */
import { type Sentence, sentence } from '../../errors/sentences.ts';
import {
  AskedValues,
  type Condition,
  type FindValue,
  MAX_DEPTH,
  MAX_TEXT_RULES,
  parseCondition,
  prepareCondition,
} from './conditions.ts';

/** A scheme that may precede a placeholder for the rest of the URL. */
type Scheme = 'http://' | 'https://' | 'mailto:' | 'tel:';

/**
 * A placeholder. `place` is its context: text, inside a URL, at the start of a URL, or after a scheme. After a scheme, the placeholder
 * includes the scheme, because the value may repeat it.
 */
export interface Placeholder {
  readonly name: string;
  readonly fallback: string;
  readonly place: 'text' | 'url' | 'url-start' | Scheme;
  /** The condition, if the placeholder is the mark `IF`. */
  readonly when?: Condition;
}

/** Text split at its placeholders: plain data that can be stored as JSON and sent to a thread. */
export type Template = readonly (string | Placeholder)[];

/** The URL of the recipient's preference page. Owners use this name in templates. */
export const PREFERENCES = 'unsubscribe_preferences';
/** The URL of the web copy of the mail. Owners use this name too. */
export const WEB_COPY = 'web_copy';

// The following names are reserved for the compiler: owners cannot write '#' in a placeholder.
/** The URL that counts an open. */
export const OPEN_URL = '#open';
/** The URL that counts a click, without the link number at its end. */
export const CLICK_URL = '#click';

/** The text of the link to the preference page, in a footer that is in the language of each contact. */
export const FOOTER_LINK = '#footer_link';

/** The name of the mark at which a condition begins. The pieces between two marks belong to one branch. */
export const IF = '#if';
/** The name of the mark between the two branches of a condition. */
const ELSE = '#else';
/** The name of the mark at which a condition ends. */
const END = '#end';
/** The words that owners write for `ELSE` and `END`. Outside of a condition, a placeholder may have these names. */
const BRANCH_WORDS: ReadonlyMap<string, string> = new Map([
  ['else', ELSE],
  ['end', END],
]);

/** The maximum length of `https://` when each character is written as a character reference. */
const MAX_SCHEME_CHARACTERS = 60;

// Every repetition is bounded and no two can match the same text, so that hostile input takes only linear time.
const PLACEHOLDER = /\(\([ \t]{0,8}(\w{1,255})[ \t]{0,8}(?:\|([^()|]{0,1000}))?\)\)/y;

/** Matches one space between words of a condition. Editors often insert a non-breaking space for a typed space. */
const GAP = '(?:[ \\t\\u00a0]|&nbsp;|&#160;|&#xa0;)';
const CONDITION = new RegExp(`\\(\\([ \\t]{0,8}if${GAP}{1,8}([^()\\r\\n]{1,1000})\\)\\)`, 'iy');
const CONDITION_BEGIN = new RegExp(`\\(\\([ \\t]{0,8}if${GAP}`, 'gi');
/** Matches the beginning of a tag or a comment, but no less-than sign in a text. */
const TAG_BEGIN = /<[a-z/!?]/i;

/** A placeholder or the beginning of a condition, as it is written in a text. */
interface FoundPlaceholder {
  index: number;
  /** The position after the placeholder. */
  end: number;
  name: string;
  fallback: string;
  /** The text after `if`; absent for an ordinary placeholder. */
  condition?: string;
}

/** The character codes of the two parentheses. */
const OPENING = 0x28;
const CLOSING = 0x29;

/**
 * Yields the placeholders and conditions of a text in order. Each character is looked at only once: a placeholder contains no parenthesis,
 * so a match is tried only where `))` is the next parenthesis after `((`.
 */
function* findPlaceholders(text: string): Generator<FoundPlaceholder> {
  let opening = -1;
  for (let at = text.indexOf('(('); at >= 0 && at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === OPENING) opening = text.charCodeAt(at - 1) === OPENING ? at - 1 : -1;
    if (code !== CLOSING) continue;
    if (opening !== -1 && text.charCodeAt(at + 1) === CLOSING) {
      const placeholder = placeholderAt(text, opening);
      if (placeholder !== null) yield placeholder;
    }
    opening = -1;
  }
}

function placeholderAt(text: string, index: number): FoundPlaceholder | null {
  PLACEHOLDER.lastIndex = index;
  const [written, name = '', fallback = ''] = PLACEHOLDER.exec(text) ?? [];
  if (written !== undefined) return { index, end: index + written.length, name, fallback };
  CONDITION.lastIndex = index;
  const [opening, condition] = CONDITION.exec(text) ?? [];
  if (opening === undefined || condition === undefined) return null;
  return { index, end: index + opening.length, name: IF, fallback: '', condition };
}

/**
 * Splits text at its placeholders in a single pass. A condition with a fault in it stays text.
 * @param kind `url` if the text is a URL or an attribute with one: values are then URL-encoded.
 * @param decode turns a default into plain text, for sources that are escaped.
 */
export function scan(
  text: string,
  kind: 'text' | 'url' = 'text',
  decode = (raw: string) => raw,
  decodeDefault = decode,
): Template {
  const pieces: (string | Placeholder)[] = [];
  let from = 0;
  for (const { index, end, name, fallback, condition: written } of findPlaceholders(text)) {
    const when = written === undefined ? undefined : parseCondition(decode(written));
    // A URL is one value, so it has no conditions.
    if (when !== undefined && ('fault' in when || kind === 'url')) continue;
    let place: Placeholder['place'] = kind;
    if (kind === 'url' && from === 0) place = placeInUrl(text, index, end, decode);
    // The placeholder includes its scheme, so the scheme is not added as text.
    if (index > from && !isScheme(place)) pieces.push(text.slice(from, index));
    pieces.push({ name, fallback: decodeDefault(fallback), place, ...(when && { when }) });
    from = end;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return withBranches(pieces);
}

/**
 * Returns the template with the placeholders `else` and `end` turned into marks where they are within a condition. Must be called again
 * after templates are joined.
 */
export function withBranches(template: Template): Template {
  if (!template.some((piece) => typeof piece !== 'string' && piece.name === IF)) return template;
  let depth = 0;
  return template.map((piece) => {
    if (typeof piece === 'string') return piece;
    if (piece.name === IF) depth++;
    const mark = depth > 0 ? branchWord(piece.name) : undefined;
    if (mark === END || piece.name === END) depth--;
    return mark === undefined ? piece : { ...piece, name: mark };
  });
}

/** Returns the mark that this word stands for, in small or capital letters; undefined if the word stands for none. */
function branchWord(name: string): string | undefined {
  return BRANCH_WORDS.get(name.toLowerCase());
}

/** Returns the pieces that a contact with these values gets: the pieces of the branches that apply, without the marks. */
export function chosenPieces(template: Template, find: FindValue): Template {
  if (!template.some(isMark)) return template;
  const values = new AskedValues(find);
  const isTaken: boolean[] = [];
  return template.filter((piece) => {
    if (typeof piece !== 'string' && isMark(piece)) {
      if (piece.name === ELSE) isTaken.push(!isTaken.pop());
      else if (piece.name === END) isTaken.pop();
      else isTaken.push(piece.when !== undefined && prepareCondition(piece.when)(values));
      return false;
    }
    return isTaken.every(Boolean);
  });
}

/**
 * Returns the pieces of all branches without the marks, for checks. A placeholder with neither a value nor a default stays as it is
 * written, because nobody knows what would be in its place.
 */
export function allPieces(template: Template, find: FindValue): Template {
  return template.flatMap((piece) => {
    if (typeof piece === 'string') return piece;
    if (isMark(piece)) return [];
    return piece.name.startsWith('#') || piece.fallback !== '' || find(piece.name) ? piece : `((${piece.name}))`;
  });
}

/** Returns the pieces that every contact gets. */
export function unconditionalPieces(template: Template): Template {
  let depth = 0;
  return template.filter((piece) => {
    const isOfCondition = typeof piece !== 'string' && isMark(piece);
    if (isOfCondition && piece.name === IF) depth++;
    if (isOfCondition && piece.name === END) depth--;
    return depth === 0 && !isOfCondition;
  });
}

/** A condition of a template with the pieces of its two branches. */
export interface Branches {
  readonly when: Condition;
  readonly ifTrue: Template;
  readonly ifFalse: Template;
  /** The position of the piece after the condition. */
  readonly next: number;
}

/**
 * Returns the condition that begins at this position of a template; null if no condition begins there. A condition without an end reaches
 * to the end of the template.
 */
export function branchesAt(template: Template, at: number): Branches | null {
  const begin = template[at];
  if (typeof begin !== 'object' || begin.when === undefined) return null;
  let depth = 0;
  let middle: number | null = null;
  let end = at;
  for (; end < template.length; end++) {
    const piece = template[end];
    if (typeof piece !== 'object') continue;
    if (piece.name === IF) depth++;
    if (piece.name === ELSE && depth === 1) middle ??= end;
    if (piece.name === END && --depth === 0) break;
  }
  return {
    when: begin.when,
    ifTrue: template.slice(at + 1, middle ?? end),
    ifFalse: middle === null ? [] : template.slice(middle + 1, end),
    next: end + 1,
  };
}

function isMark(piece: Template[number]): boolean {
  return typeof piece !== 'string' && (piece.name === IF || piece.name === ELSE || piece.name === END);
}

const MARKS = new RegExp(`\\(\\([ \\t]{0,8}(?:if${GAP}{1,8}[^()\\r\\n]{1,1000}|else|end)[ \\t]{0,8}\\)\\)`, 'gi');

/** Returns a text without the marks of conditions, with all branches. */
export function withoutMarks(text: string): string {
  return text.replaceAll(MARKS, '');
}

/**
 * Returns the first fault in the conditions of a text, with its line and column; null if they have no fault. `decode` turns the text of a
 * condition, as it is written, into plain text. If `isHtml`, a condition within a tag is a fault.
 */
export function conditionProblem(
  text: string,
  { isHtml = false, decode = (raw: string) => raw }: { isHtml?: boolean; decode?: (raw: string) => string } = {},
): Sentence | null {
  const open: { index: number; hasElse: boolean }[] = [];
  let from = 0;
  let rules = 0;
  let isInTag = false;
  for (const { index, end, name, condition: written } of findPlaceholders(text)) {
    const branch = open.length > 0 ? branchWord(name) : undefined;
    if (isHtml) {
      const between = text.slice(from, index);
      const closed = between.lastIndexOf('>');
      if (closed >= 0) isInTag = false;
      if (TAG_BEGIN.test(between.slice(closed + 1))) isInTag = true;
    }
    from = end;
    if (written === undefined && branch === undefined) continue;
    if (isInTag) return faultAt(text, index, sentence('condition_in_tag'));
    const innermost = open.at(-1);
    if (written !== undefined) {
      const parsed = parseCondition(decode(written));
      if ('fault' in parsed) return faultAt(text, index, parsed.fault);
      rules += parsed.rules.length;
      if (rules > MAX_TEXT_RULES) return faultAt(text, index, sentence('condition_many', { count: MAX_TEXT_RULES }));
      open.push({ index, hasElse: false });
      if (open.length > MAX_DEPTH) return faultAt(text, index, sentence('condition_deep', { count: MAX_DEPTH }));
    } else if (branch === END) open.pop();
    else if (innermost?.hasElse) return faultAt(text, index, sentence('condition_two_else'));
    else if (innermost !== undefined) innermost.hasElse = true;
  }
  const [first] = open;
  if (first !== undefined) return faultAt(text, first.index, sentence('condition_no_end'));
  for (const { index } of text.matchAll(CONDITION_BEGIN))
    if (placeholderAt(text, index) === null) return faultAt(text, index, sentence('condition_unclosed'));
  return null;
}

/** The maximum number of characters of a condition that the sentence about its fault quotes. */
const MAX_QUOTED = 40;

function faultAt(text: string, index: number, fault: Sentence): Sentence {
  const before = text.slice(0, index).split('\n');
  const begin = text.slice(index, index + MAX_QUOTED).split('\n')[0] ?? '';
  return sentence('condition_fault', { line: before.length, column: (before.at(-1) ?? '').length + 1, begin, fault });
}

/** The context of the first placeholder in a URL, determined by the text before it and the character after it. */
function placeInUrl(text: string, start: number, end: number, decode: (raw: string) => string): Placeholder['place'] {
  const raw = text.slice(0, start).trim();
  if (raw === '') return 'url-start';
  if (raw.length > MAX_SCHEME_CHARACTERS) return 'url';
  const before = decode(raw);
  const next = text.charAt(end);
  const scheme = /^(?:(https?:)?\/\/|mailto:|tel:)$/i.exec(before);
  // A placeholder that is part of a host name, such as `https://((shop)).example.com`, must stay in that domain.
  if (scheme === null || (before.endsWith('//') && !/^[/?#\s]?$/.test(next))) return 'url';
  return parseScheme(scheme[1] ?? before);
}

function parseScheme(text: string): Scheme {
  const schemes: Readonly<Record<string, Scheme>> = { 'http:': 'http://', 'mailto:': 'mailto:', 'tel:': 'tel:' };
  return schemes[text.toLowerCase()] ?? 'https://';
}

function isScheme(place: Placeholder['place']): place is Scheme {
  return place.endsWith(':') || place.endsWith('//');
}

/** The maximum number of placeholders and links in a template, because each is filled in for every recipient. */
const MAX_PLACEHOLDERS = 10_000;
/** Counting stops at this number, which is reached within a few milliseconds. */
const MAX_COUNTED = 5 * MAX_PLACEHOLDERS;
/** Matches a web link, in HTML or in MJML's JSON form. */
const WEB_LINK = /\bhref["\\]{0,2}\s{0,8}[=:][\s"'\\]{0,8}https?:/gi;

/** Returns the problem if template code or HTML has too many placeholders and links for a mail; otherwise null. */
export function placeholderProblem(code: string): Sentence | null {
  let count = 0;
  for (const matches of [findPlaceholders(code), code.matchAll(WEB_LINK)])
    for (const _ of matches) if (++count > MAX_COUNTED) break;
  if (count <= MAX_PLACEHOLDERS) return null;
  const most = MAX_PLACEHOLDERS;
  return count > MAX_COUNTED
    ? sentence('content_placeholders_over', { count: MAX_COUNTED, most })
    : sentence('content_placeholders', { count, most });
}

/**
 * Returns the distinct names of the placeholders of several templates, in order of appearance, including the names that conditions compare.
 */
export function placeholderNames(templates: readonly Template[]): string[] {
  const names = templates.flat().flatMap((piece) => {
    if (typeof piece === 'string') return [];
    return isMark(piece) ? (piece.when?.rules.map(({ name }) => name) ?? []) : [piece.name];
  });
  return [...new Set(names)];
}
