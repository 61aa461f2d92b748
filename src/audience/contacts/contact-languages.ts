/** The languages of contacts, as ISO 639-1 codes, and the usual language of a country. */
import { readCountries } from '../../database/reference-data.ts';
import { PAGE_LANGUAGES } from '../../languages.ts';

/** The longest text that may be a language: a tag of BCP 47 with its subtags, or a name. */
const MAX_CHARACTERS = 60;
/** A tag of BCP 47 (RFC 5646, 2.1) whose first subtag is an ISO 639-1 code; other programs write it with underscores. */
const TAG = /^([a-z]{2})(?:[-_][a-z0-9]{1,8})*$/i;
let codes: ReadonlyMap<string, string> | undefined;

/**
 * Returns the ISO 639-1 code of a language given as a code, as a tag such as `pt-BR`, or by its name in one of the
 * languages of public pages; null if it is none. The languages and their names are those of Unicode CLDR, which is part
 * of Node.
 */
export function languageCode(given: string): string | null {
  const text = given.trim().toLowerCase();
  if (text.length > MAX_CHARACTERS) return null;
  codes ??= readCodes();
  return codes.get(TAG.exec(text)?.[1] ?? text) ?? null;
}

/** Returns the codes of all known languages. */
export function languageCodes(): string[] {
  codes ??= readCodes();
  return [...new Set(codes.values())].sort();
}

function readCodes(): Map<string, string> {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const names = PAGE_LANGUAGES.map(
    (language) => new Intl.DisplayNames(language, { type: 'language', fallback: 'none' }),
  );
  const known = new Map<string, string>();
  for (const code of letters.flatMap((first) => letters.map((second) => first + second))) {
    const [english, ...others] = names.map((name) => name.of(code)?.toLowerCase());
    if (english === undefined) continue;
    // A code that was replaced, such as iw for Hebrew, means the newer one.
    const { language } = new Intl.Locale(code);
    if (language.length !== 2) continue;
    for (const text of [code, english, ...others])
      if (text !== undefined && !known.has(text)) known.set(text, language);
  }
  return known;
}

let languagesByCountry: ReadonlyMap<string, string> | undefined;

/**
 * Returns the ISO 639-1 code of the language that is most used in a country, which is given by its English name in the
 * reference data; null for an unknown country. The source is the likely subtags of Unicode CLDR (UTS 35, "Likely
 * Subtags"), which are part of Node.
 */
export function languageOfCountry(name: string): string | null {
  languagesByCountry ??= new Map(
    readCountries().flatMap(({ name, iso2 }) => {
      const { language } = new Intl.Locale(`und-${iso2}`).maximize();
      return language.length === 2 ? [[name, language] as const] : [];
    }),
  );
  return languagesByCountry.get(name) ?? null;
}
