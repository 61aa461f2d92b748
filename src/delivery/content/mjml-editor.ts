/** Between a stored template and the editor of the design page, which knows only some of MJML. */
import { ContentError } from './compiled-content.ts';
import { type MjmlNode, parseMjml } from './mjml.ts';
import { fromMarkup, toMarkup } from './mjml-markup.ts';

/** What the editor gets. */
export interface EditorView {
  mjml: string;
  /** Whether the editor would show and keep all of it; otherwise its source is edited. */
  isDrawable: boolean;
}

const EMPTY =
  '<mjml><mj-body><mj-section><mj-column><mj-text>Write here</mj-text></mj-column></mj-section></mj-body></mjml>';

/** What grapesjs-mjml knows. */
const DRAWN = new Set(
  'body button column divider group hero image navbar navbar-link raw section social social-element spacer text wrapper'
    .split(' ')
    .map((name) => `mj-${name}`),
);
const HEAD_DRAWN = new Set(['mj-font', 'mj-style']);
/** As the API takes of template code. */
const MOST_CHARACTERS = 2 * 1024 * 1024;

/** The view of a template in MJML's JSON form; '' is an empty design. Throws ContentError with a text for the owner. */
export function editorView(template_json: string): EditorView {
  return viewOf(template_json === '' ? fromMarkup(EMPTY) : parseMjml(template_json));
}

/**
 * The JSON form of what an editor's markup says; `before` is the template that was opened, '' for none. Throws ContentError with a
 * text for the owner.
 */
export function editedTemplate(mjml: string, before: string): string {
  const drawn = fromMarkup(mjml);
  const opened = before === '' ? null : parseMjml(before);
  const edited = opened !== null && viewOf(opened).isDrawable ? opened : null;
  const head = headOf(edited);
  const rest = drawn.children?.filter((child) => child.tagName !== 'mj-head') ?? [];
  const attributes = opened?.attributes ?? drawn.attributes;
  const whole = { tagName: 'mjml', attributes, children: [...(head.length > 0 ? head : headOf(drawn)), ...rest] };
  const template_json = JSON.stringify(whole);
  if (template_json.length > MOST_CHARACTERS) throw new ContentError('The design is too large to be stored.');
  parseMjml(template_json);
  return template_json;
}

/** The body, and of the head what the editor can draw. It would lose the inside of elements it does not know. */
function viewOf(root: MjmlNode): EditorView {
  const children = root.children ?? [];
  const parts = children.map((part) =>
    part.tagName === 'mj-head'
      ? { ...part, children: part.children?.filter(({ tagName }) => HEAD_DRAWN.has(tagName)) ?? [] }
      : part,
  );
  const isDrawable = children.every((part) =>
    // Beside mj-attributes it would drop what it takes for defaults.
    part.tagName === 'mj-head' ? !part.children?.some(({ tagName }) => tagName === 'mj-attributes') : isDrawn(part),
  );
  return { mjml: toMarkup({ ...root, children: isDrawable ? parts : children }), isDrawable };
}

function isDrawn({ tagName, children = [] }: MjmlNode): boolean {
  return DRAWN.has(tagName) && children.every(isDrawn);
}

function headOf(root: MjmlNode | null): readonly MjmlNode[] {
  return root?.children?.filter((child) => child.tagName === 'mj-head') ?? [];
}
