/** Finds the country that a text in a CSV file stands for: a name, an ISO code or an id. */
import { readCountries } from '../../database/place-data.ts';

let idsByText: Map<string, number> | undefined;

/**
 * Returns the id of the country with this English name (or a common alternative), ISO 3166-1 two- or three-letter code, or id;
 * null if there is none. Case, accents, punctuation and "the" are ignored in names.
 */
export function countryId(country: string): number | null {
  idsByText ??= readIdsByText();
  const text = country.trim();
  // An id must match exactly, because the key of a name has no digits.
  return idsByText.get(/\p{N}/u.test(text) ? text : countryKey(text)) ?? null;
}

function readIdsByText(): Map<string, number> {
  return new Map(
    readCountries().flatMap(({ id, iso2, iso3, name, aliases }) => [
      [String(id), id],
      ...[iso2, iso3, name, ...aliases].map((text): [string, number] => [countryKey(text), id]),
    ]),
  );
}

/** Returns a key that is equal for two spellings of a country, such as `St. Kitts & Nevis` and `Saint Kitts and Nevis`. */
export function countryKey(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}.'\u2019]/gu, '')
    .replaceAll('&', ' and ')
    .replace(/[^\p{L}]+/gu, ' ')
    .replace(/\bthe\b/g, ' ')
    .replace(/\bst\b/g, 'saint')
    .replace(/\s+/g, ' ')
    .trim();
}
