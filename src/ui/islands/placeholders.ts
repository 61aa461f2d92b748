/** Turns the names of placeholders into buttons that insert them into the last used field. Without this script they can be copied. */

let field: HTMLInputElement | null = document.querySelector('input[data-takes-placeholders]');
// Before anybody clicked into it, its cursor is at the beginning.
field?.setSelectionRange(field.value.length, field.value.length);
document.addEventListener('focusin', ({ target }) => {
  if (target instanceof HTMLInputElement && target.dataset.takesPlaceholders !== undefined) field = target;
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
    button.addEventListener('click', () => field !== null && insert(field, text));
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
