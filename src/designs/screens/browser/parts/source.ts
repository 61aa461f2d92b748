/** The mail as plain text: its HTML, or MJML that the editor cannot show. */
import { fieldChoice } from './editor.ts';
import { say } from './page.ts';

/** An open text of the mail. */
export interface Source {
  /** What holds it, to be put on the page. */
  box: HTMLElement;
  text(): string;
  setText(text: string): void;
  focus(): void;
}

/** Makes a field for the text of the mail, with a choice of placeholders; `onChange` is called after each change. */
export function makeSource(name: 'html' | 'mjml', text: string, fields: string[], onChange: () => void): Source {
  const source = document.createElement('textarea');
  source.value = text;
  source.spellcheck = false;
  source.setAttribute('aria-label', say(`designer.${name}.of`));
  const choice = fieldChoice(fields);
  choice.addEventListener('change', () => {
    source.setRangeText(choice.value, source.selectionStart, source.selectionEnd, 'end');
    choice.value = '';
    source.focus();
    onChange();
  });
  source.addEventListener('input', onChange);
  const label = document.createElement('label');
  label.append(choice);
  const box = document.createElement('div');
  box.className = 'source';
  box.append(label, source);
  return {
    box,
    text: () => source.value,
    setText: (changed) => {
      source.value = changed;
    },
    focus: () => source.focus(),
  };
}
