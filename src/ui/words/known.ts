/** The labels of fields, languages, countries and other values of the API, in the user's language. */
import { languageCodes } from '../../audience/contacts/contact-languages.ts';
import { readCountries } from '../../database/place-data.ts';
import { LANGUAGE_CODES } from '../../languages.ts';
import { isWordKey, type Language } from './index.ts';

/**
 * Returns the label of a contact's field. For a custom field this is its name, with spaces in place of underscores and a capital first
 * letter.
 */
export function fieldLabel(language: Language, name: string): string {
  const key = `field.${name}`;
  if (isWordKey(key)) return language.fill(key, {});
  const text = name.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns a function that names the language with an ISO 639-1 code in the user's language. The name of an empty code is empty. */
export function languageNamer(language: Language): (code: string) => string {
  const names = new Intl.DisplayNames(language.locale, { type: 'language' });
  return (code) => (code === '' ? '' : (names.of(code) ?? code));
}

/** Returns all languages as the options of a choice, in the order of their names in the user's language. */
export function languageOptions(language: Language): { value: string; label: string }[] {
  const nameOf = languageNamer(language);
  return languageCodes()
    .map((code) => ({ value: code, label: nameOf(code) }))
    .sort((a, b) => a.label.localeCompare(b.label, language.locale));
}

/** A country by its English name and its code of ISO 3166-1. */
interface NamedCountry {
  name: string;
  iso2: string;
}

/**
 * The names of countries by the code of the language. The locale does not count, because `findCountry` must find every name that a user can
 * choose.
 */
const countryNames = new Map<string, Intl.DisplayNames>();

/** Returns a function that names a country in the user's language, or in English if the language has no name for it. */
export function countryNamer({ code }: Pick<Language, 'code'>): (country: NamedCountry) => string {
  if (code === 'en') return ({ name }) => name;
  const names = countryNames.get(code) ?? new Intl.DisplayNames(code, { type: 'region', fallback: 'none' });
  countryNames.set(code, names);
  return ({ name, iso2 }) => findName(names, iso2) ?? name;
}

/** Returns the name of a country; undefined if Intl has none. Some codes of the reference data have a form that Intl does not accept. */
function findName(names: Intl.DisplayNames, code: string): string | undefined {
  return /^[A-Z]{2}$/.test(code) ? names.of(code) : undefined;
}

/** Returns countries as the options of a choice, in the order of their names in the user's language. */
export function countryOptions(
  language: Language,
  countries: readonly (NamedCountry & { id: number })[],
): { value: string; label: string }[] {
  const nameOf = countryNamer(language);
  const { compare } = new Intl.Collator(language.locale);
  return countries
    .map((country) => ({ value: String(country.id), label: nameOf(country) }))
    .sort((a, b) => compare(a.label, b.label));
}

let countriesByName: ReadonlyMap<string, NamedCountry> | undefined;

/** Returns the country with this name in a language of the dashboard, in capital or small letters; undefined if there is none. */
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

/** Returns the value of a contact's field for a page. A country is named in the user's language; other values do not change. */
export function fieldText(language: Language, field: string, value: string): string {
  const country = field === 'country' ? findCountry(value) : undefined;
  return country === undefined ? value : countryNamer(language)(country);
}

/** Returns the label of a value of the API in the user's language, or the value itself if it has no label. */
export function knownWord(
  language: Language,
  kind: 'delivery' | 'source' | 'suppression' | 'entered' | 'inactive' | 'operator',
  value: string,
): string {
  const key = `${kind}.${value}`;
  return isWordKey(key) ? language.fill(key, {}) : value;
}

/** Returns the name of a template. The name of a built-in template is in the user's language. */
export function templateName(
  language: Language,
  { template_name, preview_image }: { template_name: string; preview_image: string },
): string {
  const key = `templates.name.${preview_image.replace('.png', '')}`;
  return isWordKey(key) ? language.fill(key, {}) : template_name;
}
