/**
 * The parts of a mail in MJML: where blocks go, and what grapesjs-mjml lacks. Attributes with quotes and ampersands survive, and parts in
 * plain HTML or in MJML that it does not know are kept as they are. The server sends such a part as an empty mj-raw with its source in an
 * attribute; nothing of it becomes an element of this page.
 */
import type { Component, Editor } from 'grapesjs';
import { escaped, say } from './page.ts';

/** Elements that hold texts, pictures and buttons. */
const HOLDERS = ['mj-column', 'mj-hero'];
/** Elements that hold sections. */
const PAGES = ['mj-body', 'mj-wrapper'];

/** The tag of a part, such as mj-text. */
export function tagOf(part: Component): string {
  return String(part.get('tagName'));
}

/** Whether a part stands in the body by itself. */
export function isSection(part: Component): boolean {
  return within(part, PAGES) === part;
}

/** The body of the mail. Throws an Error when there is none. */
export function bodyOf(editor: Editor): Component {
  const body = editor.getWrapper()?.findType('mj-body')[0];
  if (body === undefined) throw new Error('The mail has no body');
  return body;
}

/** The part itself or the nearest one around it whose parent is one of these. */
function within(part: Component | undefined, parents: readonly string[]): Component | undefined {
  let at = part;
  for (; at !== undefined; at = at.parent()) {
    const parent = at.parent();
    if (parent !== undefined && parents.includes(tagOf(parent))) return at;
  }
  return undefined;
}

/**
 * Adds MJML after the chosen part, or at the end, and chooses what was added. What is no section goes into the column of the chosen
 * part, or into a section of its own. Gives the parts added.
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

/** Whether a part can be moved up (-1) or down (1). */
export function canMove(editor: Editor, part: Component, by: -1 | 1): boolean {
  return targetOf(editor, part, by) !== null;
}

/** Moves a part up or down: past its neighbour, or from the edge of its column into the next one. */
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
  // The place is counted before the part is taken out of it.
  if (by === -1 && index > 0) return { parent, at: index - 1 };
  if (by === 1 && index < siblings - 1) return { parent, at: index + 2 };
  if (!HOLDERS.includes(tagOf(parent))) return null;
  const holders = listParts(bodyOf(editor)).filter((one) => HOLDERS.includes(tagOf(one)));
  const next = holders[holders.indexOf(parent) + by];
  return next === undefined ? null : { parent: next, at: by === -1 ? next.components().length : 0 };
}

/** The parts below one in the order of the mail, without what is written in a text. */
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
