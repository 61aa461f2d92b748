/** The languages of contacts, as ISO 639-1 codes, and the usual language of a country. */
import { readCountries } from '../../database/place-data.ts';
import { PAGE_LANGUAGES } from '../../languages.ts';

/** The longest text that may be a language: a tag of BCP 47 with its subtags, or a name. */
const MAX_CHARACTERS = 60;
/** A tag of BCP 47 (RFC 5646, 2.1) whose first subtag is an ISO 639-1 code; other programs write it with underscores. */
const TAG = /^([a-z]{2})(?:[-_][a-z0-9]{1,8})*$/i;

/**
 * Returns the ISO 639-1 code of a language given as a code, as a tag such as `pt-BR`, or by its name in one of the
 * languages of public pages; null for any other text. The languages and their names are those of Unicode CLDR, which is part
 * of Node.
 */
export function languageCode(language: string): string | null {
  const text = language.trim().toLowerCase();
  // Most contacts have no language of their own, and reading the names below takes tens of milliseconds.
  if (text === '' || text.length > MAX_CHARACTERS) return null;
  const tag = TAG.exec(text)?.[1];
  if (tag !== undefined) return currentCode(tag);
  codesByName ??= readNames();
  return codesByName.get(text) ?? null;
}

/** Returns the codes of all known languages. */
export function languageCodes(): string[] {
  return [...new Set(PAIRS.flatMap((pair) => currentCode(pair) ?? []))].sort();
}

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];
/** All pairs of letters. The ISO 639-1 codes are among them. */
const PAIRS = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));

const namesIn = (language: string) => new Intl.DisplayNames(language, { type: 'language', fallback: 'none' });

let englishNames: Intl.DisplayNames | undefined;
/** Language codes by the two letters that were looked up; null: no language. Looking up all letters at once takes tens of milliseconds. */
const currentCodes = new Map<string, string | null>();

/** Returns the code of the language that two letters mean; null if they mean none. */
function currentCode(letters: string): string | null {
  const known = currentCodes.get(letters);
  if (known !== undefined) return known;
  englishNames ??= namesIn('en');
  // A code that was replaced, such as iw for Hebrew, means the newer one.
  const language = englishNames.of(letters) === undefined ? '' : new Intl.Locale(letters).language;
  const code = language.length === 2 ? language : null;
  currentCodes.set(letters, code);
  return code;
}

/** The codes by the names of their languages in small letters, read when a name is first given. */
let codesByName: ReadonlyMap<string, string> | undefined;

function readNames(): Map<string, string> {
  const names = PAGE_LANGUAGES.map(namesIn);
  const known = new Map<string, string>();
  for (const pair of PAIRS) {
    const code = currentCode(pair);
    if (code === null) continue;
    for (const name of names) {
      const text = name.of(pair)?.toLowerCase();
      if (text !== undefined && !known.has(text)) known.set(text, code);
    }
  }
  return known;
}

let languagesByCountry: ReadonlyMap<string, string> | undefined;

/**
 * Returns the ISO 639-1 code of the language that is most used in a country, which is given by its English name in the
 * reference data; null for an unknown country. The source is the likely subtags of Unicode CLDR (UTS 35, "Likely
 * Subtags"), which are part of Node.
 */
export function languageOfCountry(country: string): string | null {
  languagesByCountry ??= new Map(
    readCountries().flatMap(({ name, iso2 }) => {
      const { language } = new Intl.Locale(`und-${iso2}`).maximize();
      return language.length === 2 ? [[name, language] as const] : [];
    }),
  );
  return languagesByCountry.get(country) ?? null;
}
