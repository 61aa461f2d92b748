/** How the screens write the name of a contact's field. */
import { isWordKey, type Language } from '../../words/index.ts';

/** A field's name as a label: a word for a built-in field; else the name with underscores as spaces and the first letter large. */
export function fieldLabel(language: Language, name: string): string {
  const key = `field.${name}`;
  if (isWordKey(key)) return language.fill(key, {});
  const text = name.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
