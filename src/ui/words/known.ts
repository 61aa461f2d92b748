/** Labels for values of the API. A value without a label is shown as it is. */
import { languageCodes } from '../../audience/contacts/contact-languages.ts';
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

/** Returns the label of a value of the API in the user's language, or the value if there is none. */
export function knownWord(
  language: Language,
  kind: 'delivery' | 'source' | 'suppression' | 'entered' | 'inactive',
  value: string,
): string {
  const key = `${kind}.${value}`;
  return isWordKey(key) ? language.fill(key, {}) : value;
}
