/** Converts between stored templates and the design editor, which supports only part of MJML. */
import { ContentError } from './compiled-content.ts';
import { type MjmlNode, parseMjml } from './mjml.ts';
import { fromMarkup, toMarkup } from './mjml-markup.ts';

/** A template as the design editor gets it. */
export interface EditorView {
  mjml: string;
  /** Whether the editor can show and keep all of it; otherwise the owner edits its source. */
  isDrawable: boolean;
}

const EMPTY =
  '<mjml><mj-body><mj-section><mj-column><mj-text>Write here</mj-text></mj-column></mj-section></mj-body></mjml>';

/** The elements that grapesjs-mjml supports. */
const SUPPORTED = new Set(
  'body button column divider group hero image navbar navbar-link raw section social social-element spacer text wrapper'
    .split(' ')
    .map((name) => `mj-${name}`),
);
const SUPPORTED_IN_HEAD = new Set(['mj-font', 'mj-style']);
/** The API's limit for template code. */
const MAX_CHARACTERS = 2 * 1024 * 1024;

/** The view of a template in MJML's JSON form; '' is an empty design. Throws ContentError with a message for the owner. */
export function editorView(template_json: string): EditorView {
  return buildView(template_json === '' ? fromMarkup(EMPTY) : parseMjml(template_json));
}

/**
 * The JSON form of the editor's markup; `before` is the template that was opened, or ''. Throws ContentError with a message for
 * the owner.
 */
export function editedTemplate(mjml: string, before: string): string {
  const drawn = fromMarkup(mjml);
  const opened = before === '' ? null : parseMjml(before);
  const edited = opened !== null && buildView(opened).isDrawable ? opened : null;
  const head = headElements(edited);
  const rest = drawn.children?.filter((child) => child.tagName !== 'mj-head') ?? [];
  const attributes = opened?.attributes ?? drawn.attributes;
  const whole = { tagName: 'mjml', attributes, children: [...(head.length > 0 ? head : headElements(drawn)), ...rest] };
  const template_json = JSON.stringify(whole);
  if (template_json.length > MAX_CHARACTERS) throw new ContentError('The design is too large to be stored.');
  parseMjml(template_json);
  return template_json;
}

/** The body, and the supported part of the head. The editor would lose the content of elements it does not support. */
function buildView(root: MjmlNode): EditorView {
  const children = root.children ?? [];
  const parts = children.map((part) =>
    part.tagName === 'mj-head'
      ? { ...part, children: part.children?.filter(({ tagName }) => SUPPORTED_IN_HEAD.has(tagName)) ?? [] }
      : part,
  );
  const isDrawable = children.every((part) =>
    // With mj-attributes the editor would remove attributes that it considers defaults.
    part.tagName === 'mj-head' ? !part.children?.some(({ tagName }) => tagName === 'mj-attributes') : isSupported(part),
  );
  return { mjml: toMarkup({ ...root, children: isDrawable ? parts : children }), isDrawable };
}

function isSupported({ tagName, children = [] }: MjmlNode): boolean {
  return SUPPORTED.has(tagName) && children.every(isSupported);
}

function headElements(root: MjmlNode | null): readonly MjmlNode[] {
  return root?.children?.filter((child) => child.tagName === 'mj-head') ?? [];
}
