/** How the screens write the name of a contact's field. */

/** A field's name as a label: underscores as spaces, the first letter large. */
export function fieldLabel(name: string): string {
  const text = name.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
