/**
 * The content of the mail on the design page: blocks, HTML, or MJML that the editor cannot show. The user can switch between blocks and
 * HTML. Switching alone changes neither: the mail is saved as what was changed last.
 */
import { type Choices, fieldChoice, markup, openEditor } from './editor.ts';
import { ask, call, element, escaped, problemOf, say, tell } from './page.ts';

/** The content that the page saves, previews and sends. */
interface Content {
  /** Returns the content as the body of a request. */
  current(): Record<string, string>;
}

/** The content of the mail, and the version of the stored content that was opened. */
interface OpenedContent {
  content: Content;
  version: string;
}

/** Opens the content of the mail. Calls `onChange` after each change. */
export async function openContent(onChange: () => void): Promise<OpenedContent> {
  const { mjml = '', html, isDrawable, fields = [], brand, version = '' } = await call('/content');
  if (html === undefined && !isDrawable) {
    const source = makeSource('mjml', mjml, fields, onChange);
    element('main', HTMLElement).append(source.box);
    return { content: { current: () => ({ mjml: source.text() }) }, version };
  }
  const content = new BlocksAndHtml({ fields, brand }, onChange);
  if (html === undefined) await content.openBlocks(mjml);
  else content.openHtml(html);
  return { content, version };
}

/** Content that can be shown as blocks or as HTML. */
class BlocksAndHtml implements Content {
  readonly #choices: Choices;
  readonly #onChange: () => void;
  readonly #workspace = element('workspace', HTMLElement);
  readonly #switch = element('mode', HTMLButtonElement);
  readonly #note = document.createElement('p');
  /** Returns the MJML of the blocks; null until the blocks are shown. */
  #readBlocks: (() => string) | null = null;
  /** The field with the HTML; null until the HTML is shown. */
  #html: Source | null = null;
  /** The HTML that means the same as the blocks; null after a block was changed. */
  #htmlOfBlocks: string | null = null;
  /** True if the blocks were made from `#htmlOfBlocks`; false if `#htmlOfBlocks` was made from the blocks. */
  #areBlocksFromHtml = false;
  /** True if the page shows the HTML. */
  #isHtml = false;
  /** True from a click on the switch until the page shows the other kind of content. A second click would do the same again. */
  #isSwitching = false;

  constructor(choices: Choices, onChange: () => void) {
    this.#choices = choices;
    this.#onChange = onChange;
    this.#note.className = 'note';
    this.#switch.hidden = false;
    this.#switch.addEventListener('click', () => {
      if (this.#isSwitching) return;
      this.#isSwitching = true;
      void (this.#isHtml ? this.#toBlocks() : this.#toHtml())
        .catch((error: unknown) => tell(problemOf(error)))
        .finally(() => {
          this.#isSwitching = false;
        });
    });
  }

  current(): Record<string, string> {
    const html = this.#html?.text() ?? '';
    const ofBlocks = this.#htmlOfBlocks;
    // Unchanged blocks are saved as the HTML that they were made from, and unchanged HTML as the blocks that it was made from.
    if (ofBlocks !== null && this.#areBlocksFromHtml && (!this.#isHtml || html === ofBlocks)) return { html: ofBlocks };
    if (this.#isHtml && html !== ofBlocks) return { html };
    return { mjml: this.#mjml() };
  }

  /** Returns the MJML of the blocks; empty until the blocks are shown. */
  #mjml(): string {
    return this.#readBlocks?.() ?? '';
  }

  async openBlocks(mjml: string): Promise<void> {
    this.#workspace.hidden = false;
    const editor = await openEditor(mjml, this.#choices, () => {
      this.#htmlOfBlocks = null;
      this.#areBlocksFromHtml = false;
      this.#onChange();
    });
    this.#readBlocks = () => markup(editor);
    this.#show(false);
  }

  openHtml(html: string): void {
    this.#html = makeSource('html', html, this.#choices.fields, () => {
      this.#showNote();
      this.#onChange();
    });
    element('main', HTMLElement).append(this.#html.box);
    this.#html.box.prepend(this.#note);
    this.#show(true);
  }

  async #toHtml(): Promise<void> {
    tell(say('designer.rendering'));
    while (this.#htmlOfBlocks === null) {
      const mjml = this.#mjml();
      const { html = '' } = await call('/html', { mjml });
      // Blocks that were changed meanwhile are rendered again.
      if (mjml === this.#mjml()) this.#htmlOfBlocks = html;
    }
    if (this.#html === null) this.openHtml(this.#htmlOfBlocks);
    else this.#html.setText(this.#htmlOfBlocks);
    this.#show(true);
    this.#html?.focus();
    tell('');
  }

  async #toBlocks(): Promise<void> {
    const html = this.#html?.text() ?? '';
    if (this.#readBlocks === null) {
      this.#htmlOfBlocks = html;
      this.#areBlocksFromHtml = true;
      await this.openBlocks(asOneBlock(html));
      tell(say('designer.blocks.made'));
      return;
    }
    if (html !== this.#htmlOfBlocks) {
      if ((await ask('drop-dialog')) !== 'drop') return;
      this.#onChange();
    }
    this.#show(false);
  }

  #show(isHtml: boolean): void {
    this.#isHtml = isHtml;
    this.#workspace.hidden = isHtml;
    if (this.#html !== null) this.#html.box.hidden = !isHtml;
    const toBlocks = this.#readBlocks === null ? 'designer.blocks.use' : 'designer.blocks';
    this.#switch.textContent = say(isHtml ? toBlocks : 'designer.html');
    this.#showNote();
  }

  /** Shows above the HTML whether switching back to the blocks loses changes. */
  #showNote(): void {
    this.#note.hidden = this.#readBlocks === null;
    const key = this.#html?.text() === this.#htmlOfBlocks ? 'designer.html.kept' : 'designer.html.changed';
    if (this.#note.textContent !== say(key)) this.#note.textContent = say(key);
  }
}

/** Returns the MJML of a mail whose only block is this HTML. The style sheets of the HTML go into the head. */
function asOneBlock(html: string): string {
  const body = /<body\b[^>]*>([\s\S]*)<\/body\s*>/i.exec(html)?.[1] ?? html.replace(/<!doctype[^>]*>/i, '');
  const head = /<head\b[^>]*>([\s\S]*?)<\/head\s*>/i.exec(html)?.[1] ?? '';
  const styles = [...head.matchAll(/<style\b[^>]*>([\s\S]*?)<\/style\s*>/gi)].map(
    ([, css = '']) => `<mj-style>${css}</mj-style>`,
  );
  return `<mjml><mj-head>${styles.join('')}</mj-head><mj-body><mj-raw data-html="${escaped(body.trim())}"></mj-raw></mj-body></mjml>`;
}

/** A field for the code of the mail. */
interface Source {
  /** The container of the field, which the caller adds to the page. */
  box: HTMLElement;
  text(): string;
  setText(text: string): void;
  focus(): void;
}

/** Creates a field for the code of the mail, with a choice of placeholders. Calls `onChange` after each change. */
function makeSource(name: 'html' | 'mjml', text: string, fields: string[], onChange: () => void): Source {
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
    setText: (newText) => {
      source.value = newText;
    },
    focus: () => source.focus(),
  };
}
