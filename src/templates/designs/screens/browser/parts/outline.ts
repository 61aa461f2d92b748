/** The list of the mail's parts, with buttons for the selected part. With this list the keyboard alone is enough to design a mail. */
import type { Component, Editor } from 'grapesjs';
import { BLOCK_NAME, SHOW_TO } from '../../../../../delivery/content/block-attributes.ts';
import { foreignName } from './foreign-parts.ts';
import { bodyOf, canMove, move, tagOf } from './insert.ts';
import { button, element, isLocked, say, tell } from './page.ts';

const EXCERPT_CHARACTERS = 32;

/** A button for the selected part. */
export interface Tool {
  label: string;
  /** Returns true if the action applies to this part. */
  isFor(part: Component): boolean;
  run(part: Component): void;
}

/** Fills the list, and updates it when the mail changes. The tools `before` and `after` stand before and after the tools for every part. */
export function openOutline(editor: Editor, before: readonly Tool[], after: readonly Tool[]): void {
  const list = element('part-list', HTMLElement);
  const tools: Tool[] = [
    ...before,
    {
      label: say('designer.part.up'),
      isFor: (part) => canMove(editor, part, -1),
      run: (part) => report('designer.part.moved', part, () => move(editor, part, -1)),
    },
    {
      label: say('designer.part.down'),
      isFor: (part) => canMove(editor, part, 1),
      run: (part) => report('designer.part.moved', part, () => move(editor, part, 1)),
    },
    {
      label: say('designer.part.duplicate'),
      isFor: (part) => part.parent() !== undefined,
      run: (part) => report('designer.part.duplicated', part, () => duplicate(editor, part)),
    },
    {
      label: say('designer.part.remove'),
      isFor: (part) => part.parent() !== undefined,
      run: (part) => report('designer.part.removed', part, () => remove(editor, part)),
    },
    ...after,
  ];
  const buttons = tools.map((tool) => {
    const toolButton = button(tool.label, () => {
      const part = selectedPart(editor);
      if (part !== undefined && tool.isFor(part)) tool.run(part);
    });
    return { tool, toolButton };
  });
  element('part-tools', HTMLElement).append(...buttons.map(({ toolButton }) => toolButton));
  const show = () => {
    const selected = selectedPart(editor);
    // The buttons are not disabled, because a disabled button would lose the focus.
    for (const { tool, toolButton } of buttons)
      toolButton.setAttribute('aria-disabled', String(isLocked || selected === undefined || !tool.isFor(selected)));
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.part : undefined;
    const parts = itemsOf(bodyOf(editor), editor, selected);
    list.replaceChildren(...(parts.length > 0 ? parts : [emptyNote()]));
    if (focused !== undefined) list.querySelector<HTMLElement>(`[data-part="${CSS.escape(focused)}"]`)?.focus();
  };
  let isDue = false;
  const showSoon = () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      show();
    });
  };
  editor.on('component:add component:remove component:update component:selected component:deselected', showSoon);
  show();
}

/** Returns the selected part; undefined if none or the whole mail is selected. An element within a text counts as the text. */
function selectedPart(editor: Editor): Component | undefined {
  let part = editor.getSelected();
  while (part !== undefined && !tagOf(part).startsWith('mj-')) part = part.parent();
  return part === undefined || ['mj-body', 'mjml'].includes(tagOf(part)) ? undefined : part;
}

/** Returns the kind of a part, with its name or the beginning of its content, and with the condition under which it is shown. */
export function partName(part: Component): string {
  const { [SHOW_TO]: condition, [BLOCK_NAME]: blockName } = part.getAttributes();
  const text = textOf(part).replaceAll(/\s+/g, ' ').trim();
  const excerpt = text.length > EXCERPT_CHARACTERS ? `${text.slice(0, EXCERPT_CHARACTERS)}…` : text;
  const content = tagOf(part) === 'mj-image' ? String(part.getAttributes().alt ?? '') : excerpt;
  const detail = typeof blockName === 'string' ? blockName : content;
  const name = detail === '' ? kindName(part) : `${kindName(part)}: ${detail}`;
  return typeof condition === 'string' ? `${name} (${condition})` : name;
}

/** The names of the kinds of parts, by the tag of the part. */
const KIND_NAMES = new Map<string, Parameters<typeof say>[0]>([
  ['mj-section', 'designer.part.section'],
  ['mj-column', 'designer.part.column'],
  ['mj-wrapper', 'designer.part.wrapper'],
  ['mj-group', 'designer.part.group'],
  ['mj-hero', 'designer.block.hero'],
  ['mj-image', 'designer.block.picture'],
  ['mj-button', 'designer.block.button'],
  ['mj-divider', 'designer.block.divider'],
  ['mj-spacer', 'designer.block.spacer'],
  ['mj-social', 'designer.block.social'],
  ['mj-navbar', 'designer.part.links'],
  ['mj-text', 'designer.block.text'],
]);

function kindName(part: Component): string {
  const isHeading = part.components().models.some((child) => /^h[1-6]$/.test(tagOf(child)));
  if (isHeading && tagOf(part) === 'mj-text') return say('designer.block.heading');
  const key = KIND_NAMES.get(tagOf(part));
  return key === undefined ? (foreignName(part) ?? part.getName()) : say(key);
}

/** Returns the text of a part; empty for a part that contains other parts. */
function textOf(part: Component): string {
  if (['mj-section', 'mj-column', 'mj-wrapper', 'mj-group', 'mj-hero'].includes(tagOf(part))) return '';
  return [part.get('content') ?? '', ...part.components().models.map(textOf)].join(' ');
}

/** Returns the items of the list for the parts inside `parent`. */
function itemsOf(parent: Component, editor: Editor, selected: Component | undefined): HTMLLIElement[] {
  const children = parent.components().models.filter((child) => tagOf(child).startsWith('mj-'));
  return children.map((part) => {
    const choice = button(partName(part), () => editor.select(part, { scroll: true }));
    choice.dataset.part = part.getId();
    if (part === selected) choice.setAttribute('aria-current', 'true');
    const item = document.createElement('li');
    item.append(choice);
    // A section with one column is shown without that column, which has no actions of its own.
    const [only, ...others] = part.components().models;
    const isSingle = tagOf(part) === 'mj-section' && only !== undefined && others.length === 0;
    const innerItems = itemsOf(isSingle ? only : part, editor, selected);
    if (innerItems.length > 0) {
      const innerList = document.createElement('ul');
      innerList.append(...innerItems);
      item.append(innerList);
    }
    return item;
  });
}

function emptyNote(): HTMLLIElement {
  const note = document.createElement('li');
  note.textContent = say('designer.parts.none');
  return note;
}

type ReportKey = 'designer.part.moved' | 'designer.part.duplicated' | 'designer.part.removed';

/** Runs `work` on a part and reports it in the status line. */
function report(key: ReportKey, part: Component, work: () => void): void {
  const name = partName(part);
  work();
  tell(say(key, { part: name }));
}

function duplicate(editor: Editor, part: Component): void {
  const [copy] = part.parent()?.append(part.clone(), { at: part.index() + 1 }) ?? [];
  if (copy !== undefined) editor.select(copy, { scroll: true });
}

function remove(editor: Editor, part: Component): void {
  const siblings = part.parent()?.components().models ?? [];
  const next = siblings[part.index() + 1] ?? siblings[part.index() - 1];
  part.remove();
  if (next !== undefined) editor.select(next);
}
