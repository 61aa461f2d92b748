/** Labels for values of the API. A value without a label is shown as it is. */
import { languageCodes } from '../../audience/contacts/contact-languages.ts';
import { readCountries } from '../../database/reference-data.ts';
import { LANGUAGE_CODES } from '../../languages.ts';
import { isWordKey, type Language } from './index.ts';

/**
 * Returns the label of a contact's field: a text for a built-in field; otherwise its name with spaces for underscores and a
 * capital first letter.
 */
export function fieldLabel(language: Language, name: string): string {
  const key = `field.${name}`;
  if (isWordKey(key)) return language.fill(key, {});
  const text = name.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns a function that names languages, given by ISO 639-1 codes, in the user's language; '' for ''. */
export function languageNamer(language: Language): (code: string) => string {
  const names = new Intl.DisplayNames(language.locale, { type: 'language' });
  return (code) => (code === '' ? '' : (names.of(code) ?? code));
}

/** Returns every language as an option of a choice, by its name in the user's language. */
export function languageOptions(language: Language): { value: string; label: string }[] {
  const nameOf = languageNamer(language);
  return languageCodes()
    .map((code) => ({ value: code, label: nameOf(code) }))
    .sort((one, other) => one.label.localeCompare(other.label, language.locale));
}

/** A country by its English name and its code of ISO 3166-1. */
interface NamedCountry {
  name: string;
  iso2: string;
}

/** The names of countries by the code of the language, not by the locale: a name that is chosen must be found again (`findCountry`). */
const countryNames = new Map<string, Intl.DisplayNames>();

/** Returns a function that names a country in the user's language, or in English if the language has no name for it. */
export function countryNamer({ code }: Pick<Language, 'code'>): (country: NamedCountry) => string {
  if (code === 'en') return ({ name }) => name;
  const names = countryNames.get(code) ?? new Intl.DisplayNames(code, { type: 'region', fallback: 'none' });
  countryNames.set(code, names);
  return ({ name, iso2 }) => findName(names, iso2) ?? name;
}

/** Some codes of the reference data have a form that Intl does not accept. */
function findName(names: Intl.DisplayNames, code: string): string | undefined {
  return /^[A-Z]{2}$/.test(code) ? names.of(code) : undefined;
}

/** Returns countries as options of a choice, by their names in the user's language. */
export function countryOptions(
  language: Language,
  countries: readonly (NamedCountry & { id: number })[],
): { value: string; label: string }[] {
  const nameOf = countryNamer(language);
  const { compare } = new Intl.Collator(language.locale);
  return countries
    .map((country) => ({ value: String(country.id), label: nameOf(country) }))
    .sort((one, other) => compare(one.label, other.label));
}

let countriesByName: ReadonlyMap<string, NamedCountry> | undefined;

/** Finds the country with this name in English or another language of the dashboard, in capital or small letters. */
export function findCountry(name: string): NamedCountry | undefined {
  countriesByName ??= readNames();
  return countriesByName.get(name.toLowerCase());
}

function readNames(): Map<string, NamedCountry> {
  const countries = readCountries();
  return new Map(
    [...LANGUAGE_CODES].reverse().flatMap((code) => {
      const nameOf = countryNamer({ code });
      return countries.map((country) => [nameOf(country).toLowerCase(), country] as const);
    }),
  );
}

/** Returns the value of a contact's field as it is shown: a country by its name in the user's language. */
export function fieldText(language: Language, field: string, value: string): string {
  const country = field === 'country' ? findCountry(value) : undefined;
  return country === undefined ? value : countryNamer(language)(country);
}

/** Returns the label of a value of the API in the user's language, or the value if there is none. */
export function knownWord(
  language: Language,
  kind: 'delivery' | 'source' | 'suppression' | 'entered' | 'inactive',
  value: string,
): string {
  const key = `${kind}.${value}`;
  return isWordKey(key) ? language.fill(key, {}) : value;
}
