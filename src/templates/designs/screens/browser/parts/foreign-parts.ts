/**
 * Fixes for grapesjs-mjml. Attributes keep their quotes and ampersands. Foreign parts, which are plain HTML or MJML that the editor does
 * not know, stay unchanged: the server sends such a part as an empty mj-raw with the source in an attribute, so that nothing of the part
 * becomes an element of this page.
 */
import type { Component, Editor } from 'grapesjs';
import { escaped, say } from './page.ts';

/** The attribute with the source of a foreign part in HTML. */
const HTML_SOURCE = 'data-html';
/** The attribute with the source of a foreign part in MJML. */
const MJML_SOURCE = 'data-mjml';
const EXCERPT_CHARACTERS = 120;
/** A selector for the parts that a foreign part can be dragged into. */
const CONTAINERS = ['mj-body', 'mj-wrapper', 'mj-column', 'mj-hero'].map((type) => `[data-gjs-type="${type}"]`).join();

/** Returns the name of the attribute with the source of a foreign part; null for other parts. */
function sourceAttribute(part: Component): string | null {
  if (part.get('tagName') !== 'mj-raw') return null;
  return MJML_SOURCE in part.getAttributes() ? MJML_SOURCE : HTML_SOURCE;
}

/** Returns the source of a foreign part; null for other parts. */
export function sourceOf(part: Component): string | null {
  const name = sourceAttribute(part);
  return name === null ? null : String(part.getAttributes()[name] ?? '');
}

/** Changes the source of a foreign part. Does nothing for other parts. */
export function setSource(part: Component, source: string): void {
  const name = sourceAttribute(part);
  if (name !== null) part.addAttributes({ [name]: source });
}

/** Returns the name of a foreign part for the user; null for other parts. */
export function foreignName(part: Component): string | null {
  const name = sourceAttribute(part);
  return name && say(name === MJML_SOURCE ? 'designer.part.kept' : 'designer.block.html');
}

/** Makes the editor keep foreign parts and the characters in attributes unchanged. Call this after grapesjs-mjml has added its types. */
export function keepForeignParts(editor: Editor): void {
  editor.Components.addType('mj-raw', {
    model: {
      defaults: { draggable: CONTAINERS, droppable: false, stylable: false, highlightable: true, traits: [] },
      // Other types copy their attributes to a style and back, which does not work for whole documents.
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

/** Makes the method `name` of a type escape the attributes that it returns for markup, because grapesjs-mjml does not escape them. */
function escapeValues(type: Record<string, unknown>, name: string): void {
  const getAttributes = type[name];
  if (typeof getAttributes !== 'function') return;
  type[name] = function (this: Component) {
    const attributes: Record<string, unknown> = getAttributes.call(this);
    return Object.fromEntries(
      Object.entries(attributes).map(([key, value]) => [key, typeof value === 'string' ? escaped(value) : value]),
    );
  };
}
