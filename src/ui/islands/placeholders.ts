/** Turns the names of placeholders into buttons that insert them into the last used field. Without this script they can be copied. */

let field: HTMLInputElement | null = document.querySelector('input[data-takes-placeholders]');
document.addEventListener('focusin', ({ target }) => {
  if (target instanceof HTMLInputElement && target.dataset.takesPlaceholders !== undefined) field = target;
});
for (const list of document.querySelectorAll<HTMLElement>('[data-insert-label]')) {
  for (const code of list.querySelectorAll('code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet';
    button.setAttribute('aria-label', (list.dataset.insertLabel ?? '').replace('{name}', code.textContent));
    button.addEventListener('click', () => field !== null && insert(field, code.textContent));
    code.replaceWith(button);
    button.append(code);
  }
}

function insert(field: HTMLInputElement, text: string): void {
  const from = field.selectionStart ?? field.value.length;
  field.setRangeText(text, from, field.selectionEnd ?? from, 'end');
  field.dispatchEvent(new Event('input', { bubbles: true }));
  field.focus();
}
