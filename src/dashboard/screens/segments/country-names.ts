/** What countries are called in the reader's language. */
import type { Language } from '../../words/index.ts';
import type { Country } from './records.ts';

/** Gives the name of a country in the reader's language; its English name where the language has none. */
export function countryNamer(language: Language): (country: Country) => string {
  const names = new Intl.DisplayNames(language.locale, { type: 'region', fallback: 'none' });
  return ({ name, iso2 }) => (language.code === 'en' ? name : (findName(names, iso2) ?? name));
}

/** Some codes of the reference data are not of the form that Intl accepts. */
function findName(names: Intl.DisplayNames, code: string): string | undefined {
  return /^[A-Z]{2}$/.test(code) ? names.of(code) : undefined;
}

/** The countries by what somebody may type: the English name and that in the reader's language, in small letters. */
export function countriesByName(language: Language, countries: readonly Country[]): Map<string, Country> {
  const nameOf = countryNamer(language);
  return new Map(
    countries.flatMap((country) =>
      [nameOf(country), country.name].map((name) => [name.toLowerCase(), country] as const),
    ),
  );
}
