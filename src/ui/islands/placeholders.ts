/** Makes a button of each listed placeholder, which inserts the placeholder into the field that was used last. */

/** The field that was used last; null if the page has none. */
let lastField: HTMLInputElement | null = document.querySelector('input[data-takes-placeholders]');
// The cursor of a field that nobody has used is at the beginning; placeholders are to be inserted at the end.
lastField?.setSelectionRange(lastField.value.length, lastField.value.length);
document.addEventListener('focusin', ({ target }) => {
  if (target instanceof HTMLInputElement && target.dataset.takesPlaceholders !== undefined) lastField = target;
});
for (const list of document.querySelectorAll<HTMLElement>('[data-insert-label]')) {
  for (const item of list.querySelectorAll('li')) {
    const text = item.querySelector('code')?.textContent ?? '';
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet';
    button.setAttribute(
      'aria-label',
      (list.dataset.insertLabel ?? '').replace('{name}', () => item.textContent),
    );
    button.addEventListener('click', () => lastField !== null && insert(lastField, text));
    button.append(...item.childNodes);
    item.append(button);
  }
}

function insert(field: HTMLInputElement, text: string): void {
  const from = field.selectionStart ?? field.value.length;
  field.setRangeText(text, from, field.selectionEnd ?? from, 'end');
  field.dispatchEvent(new Event('input', { bubbles: true }));
  field.focus();
}
