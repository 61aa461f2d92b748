/** The parts of a mail in MJML: where new parts go, and how parts move. */
import type { Component, Editor } from 'grapesjs';

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
