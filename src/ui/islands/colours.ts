/** Shows a colour picker next to each field in which a colour is typed as digits. */
for (const island of document.querySelectorAll<HTMLElement>('[data-island="colours"]')) {
  for (const picker of island.querySelectorAll<HTMLInputElement>('input[type="color"]')) {
    const digits = picker.previousElementSibling;
    if (!(digits instanceof HTMLInputElement)) continue;
    picker.hidden = false;
    const mark = () => picker.toggleAttribute('data-empty', digits.value.trim() === '');
    mark();
    picker.addEventListener('input', () => {
      digits.value = picker.value;
      mark();
    });
    digits.addEventListener('input', () => {
      if (/^#[0-9a-f]{6}$/i.test(digits.value.trim())) picker.value = digits.value.trim();
      mark();
    });
  }
}
