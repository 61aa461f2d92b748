/**
 * The parts of a mail in MJML: where new parts go, how parts move, and fixes for grapesjs-mjml. Attributes keep their quotes and
 * ampersands. Foreign parts, which are plain HTML or MJML that the editor does not know, stay unchanged: the server sends such a part as
 * an empty mj-raw with the source in an attribute, so that nothing of the part becomes an element of this page.
 */
import type { Component, Editor } from 'grapesjs';
import { escaped, say } from './page.ts';

/** The elements that contain texts, pictures and buttons. */
const CONTENT_PARENTS = ['mj-column', 'mj-hero'];
/** The elements that contain sections. */
const SECTION_PARENTS = ['mj-body', 'mj-wrapper'];

/** Returns the tag of a part, such as mj-text. */
export function tagOf(part: Component): string {
  return String(part.get('tagName'));
}

/** Returns true if a part is a section, which can be a child of the body. */
export function isSection(part: Component): boolean {
  return ancestorIn(part, SECTION_PARENTS) === part;
}

/** Returns the body of the mail. Throws an Error if there is none. */
export function bodyOf(editor: Editor): Component {
  const body = editor.getWrapper()?.findType('mj-body')[0];
  if (body === undefined) throw new Error('The mail has no body');
  return body;
}

/** Returns the nearest of a part and its ancestors whose parent has one of these tags; undefined if there is none. */
function ancestorIn(part: Component | undefined, parentTags: readonly string[]): Component | undefined {
  for (let ancestor = part; ancestor !== undefined; ancestor = ancestor.parent()) {
    const parent = ancestor.parent();
    if (parent !== undefined && parentTags.includes(tagOf(parent))) return ancestor;
  }
  return undefined;
}

/**
 * Adds MJML after the selected part, or at the end of the mail, and selects the added part. MJML that is not a section goes into the
 * column of the selected part, or into a new section. Returns the added parts.
 */
export function insertAfterSelected(editor: Editor, mjml: string, isSection: boolean): Component[] {
  const selected = editor.getSelected();
  const added = isSection ? addSection(editor, selected, mjml) : addContent(editor, selected, mjml);
  const last = added.at(-1);
  if (last !== undefined) editor.select(last, { scroll: true });
  return added;
}

function addSection(editor: Editor, selected: Component | undefined, mjml: string): Component[] {
  const previous = ancestorIn(selected, SECTION_PARENTS);
  const parent = previous?.parent() ?? bodyOf(editor);
  return parent.append(mjml, { at: previous === undefined ? parent.components().length : previous.index() + 1 });
}

function addContent(editor: Editor, selected: Component | undefined, mjml: string): Component[] {
  const previous = ancestorIn(selected, CONTENT_PARENTS);
  const parent = previous?.parent();
  if (previous !== undefined && parent !== undefined) return parent.append(mjml, { at: previous.index() + 1 });
  const section = selected && ancestorIn(selected, SECTION_PARENTS);
  const column = [selected, ...(section?.findType('mj-column') ?? [])].find(
    (part) => part !== undefined && CONTENT_PARENTS.includes(tagOf(part)),
  );
  if (column !== undefined) return column.append(mjml);
  const newSection = `<mj-section padding="16px 0"><mj-column>${mjml}</mj-column></mj-section>`;
  const [added] = addSection(editor, selected, newSection);
  return added?.findType('mj-column')[0]?.components().models ?? [];
}

/** Returns true if a part can be moved up (`by` is -1) or down (1). */
export function canMove(editor: Editor, part: Component, by: -1 | 1): boolean {
  return targetOf(editor, part, by) !== null;
}

/** Moves a part up (`by` is -1) or down (1): past its neighbour, or from the edge of its column into the next column. */
export function move(editor: Editor, part: Component, by: -1 | 1): void {
  const target = targetOf(editor, part, by);
  if (target === null) return;
  part.move(target.parent, { at: target.at });
  editor.select(part, { scroll: true });
}

/** Returns the place to which a part moves: its new parent and its index there; null if the part cannot move. */
function targetOf(editor: Editor, part: Component, by: -1 | 1): { parent: Component; at: number } | null {
  const parent = part.parent();
  if (parent === undefined) return null;
  const index = part.index();
  const siblings = parent.components().length;
  // The editor takes the index before it removes the part from its parent, so one step down is two places further.
  if (by === -1 && index > 0) return { parent, at: index - 1 };
  if (by === 1 && index < siblings - 1) return { parent, at: index + 2 };
  if (!CONTENT_PARENTS.includes(tagOf(parent))) return null;
  const columns = listParts(bodyOf(editor)).filter((listed) => CONTENT_PARENTS.includes(tagOf(listed)));
  const next = columns[columns.indexOf(parent) + by];
  return next === undefined ? null : { parent: next, at: by === -1 ? next.components().length : 0 };
}

/** Returns all MJML parts inside a part, in the order of the mail. */
function listParts(part: Component): Component[] {
  return part
    .components()
    .models.filter((child) => tagOf(child).startsWith('mj-'))
    .flatMap((child) => [child, ...listParts(child)]);
}

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
