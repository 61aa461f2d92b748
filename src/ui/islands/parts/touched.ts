/** Finds out what the user did with a form before the script of the page ran. */

/** Returns true if a field of the form has another value than the server sent. */
export function isTouched(form: HTMLFormElement): boolean {
  return [...form.elements].some((field) => {
    if (field instanceof HTMLSelectElement) {
      // Without a selected option, the browser selects the first one that can be selected.
      const sent = [...field.options].findIndex(({ defaultSelected }) => defaultSelected);
      const first = [...field.options].findIndex(({ disabled }) => !disabled);
      return field.selectedIndex !== (sent === -1 ? first : sent);
    }
    if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
    if (!(field instanceof HTMLInputElement)) return false;
    return field.value !== sentValue(field) || field.checked !== field.defaultChecked;
  });
}

/** Returns the value that the server sent, as the browser writes it: colours in small letters, addresses without spaces around them. */
function sentValue({ type, defaultValue }: HTMLInputElement): string {
  if (type === 'color') return defaultValue.toLowerCase();
  return type === 'email' || type === 'url' ? defaultValue.trim() : defaultValue;
}
