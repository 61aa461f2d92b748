/**
 * What grapesjs-mjml lacks: attributes with quotes and ampersands survive, and parts in plain HTML or in MJML that it does not know are
 * kept as they are. The server sends such a part as an empty mj-raw with its source in an attribute; nothing of it becomes an element
 * of this page.
 */
import type { Component, Editor } from 'grapesjs';
import { escaped, say } from './page.ts';

const KEPT_HTML = 'data-html';
const KEPT_MJML = 'data-mjml';
const EXCERPT_CHARACTERS = 120;
const CONTAINERS = ['mj-body', 'mj-wrapper', 'mj-column', 'mj-hero'].map((type) => `[data-gjs-type="${type}"]`).join();

/** The attribute with the source of a part that is kept as it is; null for other parts. */
function sourceAttribute(part: Component): string | null {
  if (part.get('tagName') !== 'mj-raw') return null;
  return KEPT_MJML in part.getAttributes() ? KEPT_MJML : KEPT_HTML;
}

/** The source of a part that is kept as it is; null for other parts. */
export function sourceOf(part: Component): string | null {
  const name = sourceAttribute(part);
  return name === null ? null : String(part.getAttributes()[name] ?? '');
}

/** Changes the source of such a part. */
export function setSource(part: Component, source: string): void {
  const name = sourceAttribute(part);
  if (name !== null) part.addAttributes({ [name]: source });
}

/** What such a part is called; null for other parts. */
export function foreignName(part: Component): string | null {
  const name = sourceAttribute(part);
  return name && say(name === KEPT_MJML ? 'designer.part.kept' : 'designer.block.html');
}

/** Teaches the editor to keep them. Called after grapesjs-mjml has added its types. */
export function keepForeignParts(editor: Editor): void {
  editor.Components.addType('mj-raw', {
    model: {
      defaults: { draggable: CONTAINERS, droppable: false, stylable: false, highlightable: true, traits: [] },
      // Others copy their attributes to a style and back, which is not for whole documents.
      init() {},
    },
    view: {
      init() {
        this.listenTo(this.model, 'change:attributes', this.render);
      },
      render() {
        const { el, model } = this;
        this.renderAttributes();
        const isInHead = model.parent()?.get('tagName') === 'mj-head';
        el.textContent = `${foreignName(model)}: ${(sourceOf(model) ?? '').slice(0, EXCERPT_CHARACTERS)}`;
        el.style.cssText = isInHead
          ? 'display: none'
          : 'display: block; padding: 12px; overflow: hidden; font: 12px/16px monospace; color: #55606c; background: #f3f5f7; border: 1px dashed #75808b; pointer-events: all';
        this.postRender();
        return this;
      },
    },
  });
  for (const { id, model } of editor.Components.getTypes()) {
    if (!id.startsWith('mj')) continue;
    for (const name of ['getAttrToHTML', 'getMjmlAttributes']) escapeValues(model.prototype, name);
  }
}

/** Lets a method of a type that gives attributes for markup give them escaped, which the package forgets. */
function escapeValues(type: Record<string, unknown>, name: string): void {
  const give = type[name];
  if (typeof give !== 'function') return;
  type[name] = function (this: Component) {
    const attributes: Record<string, unknown> = give.call(this);
    return Object.fromEntries(
      Object.entries(attributes).map(([key, value]) => [key, typeof value === 'string' ? escaped(value) : value]),
    );
  };
}
