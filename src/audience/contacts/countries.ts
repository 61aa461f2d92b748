/** Which country somebody means who writes a name, an ISO code or an id (decisions §2 "CSV import"). */
import { readCountries } from '../../database/places.ts';

let idsByText: Map<string, number> | undefined;

/**
 * The id of the country given as an English name or a common alternative of it, an ISO 3166-1 two- or three-letter code or the id
 * itself; null when there is none. Case, accents, punctuation and "the" do not count in names.
 */
export function countryId(given: string): number | null {
  idsByText ??= readTexts();
  const text = given.trim();
  // An id is taken as it stands: the key of a name drops signs and points, and 1.0 is not 10.
  return idsByText.get(/\p{N}/u.test(text) ? text : countryKey(text)) ?? null;
}

function readTexts(): Map<string, number> {
  return new Map(
    readCountries().flatMap(({ id, iso2, iso3, name, aliases }) => [
      [String(id), id],
      ...[iso2, iso3, name, ...aliases].map((text): [string, number] => [countryKey(text), id]),
    ]),
  );
}

/** What two spellings of one country have in common: `St. Kitts & Nevis` and `Saint Kitts and Nevis` give the same. */
export function countryKey(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}.'’]/gu, '')
    .replaceAll('&', ' and ')
    .replace(/[^\p{L}]+/gu, ' ')
    .replace(/\bthe\b/g, ' ')
    .replace(/\bst\b/g, 'saint')
    .replace(/\s+/g, ' ')
    .trim();
}
