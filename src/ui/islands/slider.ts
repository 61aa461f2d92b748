/** Adds a slider for the pointer to each number field of an island. Keyboards and screen readers use the field itself. */
for (const field of document.querySelectorAll<HTMLInputElement>('[data-island="slider"] input[type="number"]')) {
  const slider = document.createElement('input');
  Object.assign(slider, { type: 'range', min: field.min, max: field.max, value: field.value, tabIndex: -1 });
  slider.ariaHidden = 'true';
  slider.addEventListener('input', () => {
    field.value = slider.value;
  });
  field.addEventListener('input', () => {
    slider.value = field.value;
  });
  field.after(slider);
}
