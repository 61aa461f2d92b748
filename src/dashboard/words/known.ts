/** Words for values that the dashboard shows as they are where it has no word for them. */
import { isWordKey, type Language } from './index.ts';

/** The name of a contact's field: a word for a built-in one; else its name with underscores as spaces and the first letter large. */
export function fieldLabel(language: Language, name: string): string {
  const key = `field.${name}`;
  if (isWordKey(key)) return language.fill(key, {});
  const text = name.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The reader's word for a value of the API, or the value where there is none. */
export function knownWord(
  language: Language,
  kind: 'delivery' | 'source' | 'suppression' | 'entered' | 'inactive',
  value: string,
): string {
  const key = `${kind}.${value}`;
  return isWordKey(key) ? language.fill(key, {}) : value;
}
