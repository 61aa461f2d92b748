/**
 * The mail that is being edited: as blocks, as HTML, or as MJML that the editor cannot show. The user can switch between blocks
 * and HTML: the blocks stay unchanged until the HTML is changed, and the HTML until a block is changed.
 */
import { type Choices, fieldChoice, markup, openEditor } from './editor.ts';
import { ask, call, element, escaped, say, tell } from './page.ts';

/** The content that the page saves, previews and sends. */
interface Content {
  /** Returns the content as the body of a request. */
  current(): Record<string, string>;
}

/** Opens the content of the mail. Calls `onChange` after each change. */
export async function openContent(onChange: () => void): Promise<Content> {
  const { mjml = '', html, isDrawable, fields = [], brand } = await call('/content');
  if (html === undefined && !isDrawable) {
    const source = makeSource('mjml', mjml, fields, onChange);
    element('main', HTMLElement).append(source.box);
    return { current: () => ({ mjml: source.text() }) };
  }
  const both = new BlocksAndHtml({ fields, brand }, onChange);
  if (html === undefined) await both.openBlocks(mjml);
  else both.openHtml(html);
  return both;
}

class BlocksAndHtml implements Content {
  readonly #choices: Choices;
  readonly #onChange: () => void;
  readonly #workspace = element('workspace', HTMLElement);
  readonly #switch = element('mode', HTMLButtonElement);
  readonly #note = document.createElement('p');
  #blocks: (() => string) | null = null;
  #html: Source | null = null;
  /** The HTML that corresponds to the blocks. */
  #twin: string | null = null;
  #isHtml = false;

  constructor(choices: Choices, onChange: () => void) {
    this.#choices = choices;
    this.#onChange = onChange;
    this.#note.className = 'note';
    this.#switch.hidden = false;
    this.#switch.addEventListener('click', () => {
      void (this.#isHtml ? this.#toBlocks() : this.#toHtml()).catch((error: unknown) =>
        tell(error instanceof Error ? error.message : String(error)),
      );
    });
  }

  current(): Record<string, string> {
    const html = this.#html?.text() ?? '';
    // Unchanged blocks are saved as the HTML that they were made from, and unchanged HTML as its blocks.
    if (this.#twin !== null && this.#isFirstHtml && (!this.#isHtml || html === this.#twin)) return { html: this.#twin };
    if (this.#isHtml && html !== this.#twin) return { html };
    return { mjml: this.#blocks?.() ?? '' };
  }

  /** True if the twin is the mail as it was opened, and the blocks were made from it. */
  #isFirstHtml = false;

  async openBlocks(mjml: string): Promise<void> {
    this.#workspace.hidden = false;
    const editor = await openEditor(mjml, this.#choices, () => {
      this.#twin = null;
      this.#isFirstHtml = false;
      this.#onChange();
    });
    this.#blocks = () => markup(editor);
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
    this.#twin ??= (await call('/html', { mjml: this.#blocks?.() ?? '' })).html ?? '';
    if (this.#html === null) this.openHtml(this.#twin);
    else this.#html.setText(this.#twin);
    this.#show(true);
    this.#html?.focus();
    tell('');
  }

  async #toBlocks(): Promise<void> {
    const html = this.#html?.text() ?? '';
    if (this.#blocks === null) {
      this.#twin = html;
      this.#isFirstHtml = true;
      await this.openBlocks(blocksOf(html));
      tell(say('designer.blocks.made'));
      return;
    }
    if (html !== this.#twin) {
      if ((await ask('drop-dialog')) !== 'drop') return;
      this.#onChange();
    }
    this.#show(false);
  }

  #show(isHtml: boolean): void {
    this.#isHtml = isHtml;
    this.#workspace.hidden = isHtml;
    if (this.#html !== null) this.#html.box.hidden = !isHtml;
    const back = this.#blocks === null ? 'designer.blocks.use' : 'designer.blocks';
    this.#switch.textContent = say(isHtml ? back : 'designer.html');
    this.#showNote();
  }

  #showNote(): void {
    this.#note.hidden = this.#blocks === null;
    const key = this.#html?.text() === this.#twin ? 'designer.html.kept' : 'designer.html.changed';
    if (this.#note.textContent !== say(key)) this.#note.textContent = say(key);
  }
}

/** Returns HTML as a mail of one block, with its style sheets in the head. */
function blocksOf(html: string): string {
  const body = /<body\b[^>]*>([\s\S]*)<\/body\s*>/i.exec(html)?.[1] ?? html.replace(/<!doctype[^>]*>/i, '');
  const head = /<head\b[^>]*>([\s\S]*?)<\/head\s*>/i.exec(html)?.[1] ?? '';
  const styles = [...head.matchAll(/<style\b[^>]*>([\s\S]*?)<\/style\s*>/gi)].map(
    ([, css = '']) => `<mj-style>${css}</mj-style>`,
  );
  return `<mjml><mj-head>${styles.join('')}</mj-head><mj-body><mj-raw data-html="${escaped(body.trim())}"></mj-raw></mj-body></mjml>`;
}

/** An editable text of the mail. */
interface Source {
  /** Its container, to be added to the page. */
  box: HTMLElement;
  text(): string;
  setText(text: string): void;
  focus(): void;
}

/** Creates a field for the text of the mail, with a choice of placeholders. Calls `onChange` after each change. */
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
    setText: (changed) => {
      source.value = changed;
    },
    focus: () => source.focus(),
  };
}
