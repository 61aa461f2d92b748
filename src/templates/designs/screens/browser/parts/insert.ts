/**
 * The parts of a mail in MJML: where blocks go, and fixes for grapesjs-mjml. Attributes with quotes and ampersands survive, and
 * parts in plain HTML or in unknown MJML stay unchanged. The server sends such a part as an empty mj-raw with its source in an
 * attribute, so nothing of it becomes an element of this page.
 */
import type { Component, Editor } from 'grapesjs';
import { escaped, say } from './page.ts';

/** Elements that contain texts, pictures and buttons. */
const HOLDERS = ['mj-column', 'mj-hero'];
/** Elements that contain sections. */
const PAGES = ['mj-body', 'mj-wrapper'];

/** Returns the tag of a part, such as mj-text. */
export function tagOf(part: Component): string {
  return String(part.get('tagName'));
}

/** Returns true if a part can be a child of the body. */
export function isSection(part: Component): boolean {
  return within(part, PAGES) === part;
}

/** Returns the body of the mail. Throws an Error if there is none. */
export function bodyOf(editor: Editor): Component {
  const body = editor.getWrapper()?.findType('mj-body')[0];
  if (body === undefined) throw new Error('The mail has no body');
  return body;
}

/** Returns the part itself or the nearest ancestor whose parent is one of these. */
function within(part: Component | undefined, parents: readonly string[]): Component | undefined {
  let at = part;
  for (; at !== undefined; at = at.parent()) {
    const parent = at.parent();
    if (parent !== undefined && parents.includes(tagOf(parent))) return at;
  }
  return undefined;
}

/**
 * Adds MJML after the selected part, or at the end, and selects what was added. An element that is not a section goes into the
 * column of the selected part, or into a new section. Returns the added parts.
 */
export function insertAfterChosen(editor: Editor, mjml: string, isSection: boolean): Component[] {
  const chosen = editor.getSelected();
  const added = isSection ? addSection(editor, chosen, mjml) : addContent(editor, chosen, mjml);
  const last = added.at(-1);
  if (last !== undefined) editor.select(last, { scroll: true });
  return added;
}

function addSection(editor: Editor, chosen: Component | undefined, mjml: string): Component[] {
  const before = within(chosen, PAGES);
  const parent = before?.parent() ?? bodyOf(editor);
  return parent.append(mjml, { at: before === undefined ? parent.components().length : before.index() + 1 });
}

function addContent(editor: Editor, chosen: Component | undefined, mjml: string): Component[] {
  const before = within(chosen, HOLDERS);
  const parent = before?.parent();
  if (before !== undefined && parent !== undefined) return parent.append(mjml, { at: before.index() + 1 });
  const section = chosen && within(chosen, PAGES);
  const holder = [chosen, ...(section?.findType('mj-column') ?? [])].find(
    (part) => part !== undefined && HOLDERS.includes(tagOf(part)),
  );
  if (holder !== undefined) return holder.append(mjml);
  const around = `<mj-section padding="16px 0"><mj-column>${mjml}</mj-column></mj-section>`;
  const [added] = addSection(editor, chosen, around);
  return added?.findType('mj-column')[0]?.components().models ?? [];
}

/** Returns true if a part can be moved up (-1) or down (1). */
export function canMove(editor: Editor, part: Component, by: -1 | 1): boolean {
  return targetOf(editor, part, by) !== null;
}

/** Moves a part up or down: past its neighbour, or from the edge of its column into the next column. */
export function move(editor: Editor, part: Component, by: -1 | 1): void {
  const target = targetOf(editor, part, by);
  if (target === null) return;
  part.move(target.parent, { at: target.at });
  editor.select(part, { scroll: true });
}

function targetOf(editor: Editor, part: Component, by: -1 | 1): { parent: Component; at: number } | null {
  const parent = part.parent();
  if (parent === undefined) return null;
  const index = part.index();
  const siblings = parent.components().length;
  // The index is computed before the part is removed from its parent.
  if (by === -1 && index > 0) return { parent, at: index - 1 };
  if (by === 1 && index < siblings - 1) return { parent, at: index + 2 };
  if (!HOLDERS.includes(tagOf(parent))) return null;
  const holders = listParts(bodyOf(editor)).filter((one) => HOLDERS.includes(tagOf(one)));
  const next = holders[holders.indexOf(parent) + by];
  return next === undefined ? null : { parent: next, at: by === -1 ? next.components().length : 0 };
}

/** Returns the parts inside a part in the order of the mail, without the content of texts. */
function listParts(part: Component): Component[] {
  return part
    .components()
    .models.filter((child) => tagOf(child).startsWith('mj-'))
    .flatMap((child) => [child, ...listParts(child)]);
}

const KEPT_HTML = 'data-html';
const KEPT_MJML = 'data-mjml';
const EXCERPT_CHARACTERS = 120;
const CONTAINERS = ['mj-body', 'mj-wrapper', 'mj-column', 'mj-hero'].map((type) => `[data-gjs-type="${type}"]`).join();

/** Returns the attribute with the source of a part that stays unchanged; null for other parts. */
function sourceAttribute(part: Component): string | null {
  if (part.get('tagName') !== 'mj-raw') return null;
  return KEPT_MJML in part.getAttributes() ? KEPT_MJML : KEPT_HTML;
}

/** Returns the source of a part that stays unchanged; null for other parts. */
export function sourceOf(part: Component): string | null {
  const name = sourceAttribute(part);
  return name === null ? null : String(part.getAttributes()[name] ?? '');
}

/** Changes the source of a part that stays unchanged otherwise. */
export function setSource(part: Component, source: string): void {
  const name = sourceAttribute(part);
  if (name !== null) part.addAttributes({ [name]: source });
}

/** Returns the name of a part that stays unchanged; null for other parts. */
export function foreignName(part: Component): string | null {
  const name = sourceAttribute(part);
  return name && say(name === KEPT_MJML ? 'designer.part.kept' : 'designer.block.html');
}

/** Makes the editor keep parts in plain HTML or in unknown MJML unchanged. Call it after grapesjs-mjml has added its types. */
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

/** Wraps a method of a type that returns attributes for markup, so that they are escaped, which grapesjs-mjml forgets. */
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
