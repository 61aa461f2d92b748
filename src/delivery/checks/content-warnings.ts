/** What of a mail will stay empty or as it is for everybody: placeholders that no contact has a value for, and tags of other services. */
import { placeholderNames, scan } from '../content/merge.ts';

export interface ContentWarning {
  code: 'unknown_placeholders' | 'foreign_tags';
  /** How many different ones there are. */
  count: number;
  /** The first of them. */
  names: string[];
}

const MAX_NAMES = 5;
const MAX_NAME = 80;
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
