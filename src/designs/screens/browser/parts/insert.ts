/** Where blocks go: after what is chosen, in the place that MJML allows. */
import type { Component, Editor } from 'grapesjs';

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
