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

/**
 * What the editor would change or lose stands in its markup as an empty mj-raw with one of these attributes: the HTML of an mj-raw, or
 * the markup of an element that the editor does not know. So it comes back exactly as it was.
 */
const KEPT_HTML = 'data-html';
const KEPT_MJML = 'data-mjml';

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
  const parts = drawn.children.map(unwrapped);
  const rest = parts.filter(({ tagName }) => tagName !== 'mj-head');
  const attributes = opened?.attributes ?? drawn.attributes;
  const whole = {
    tagName: 'mjml',
    attributes,
    children: [...(head.length > 0 ? head : headElements({ ...drawn, children: parts })), ...rest],
  };
  const template_json = JSON.stringify(whole);
  if (template_json.length > MAX_CHARACTERS) throw new ContentError('The design is too large to be stored.');
  parseMjml(template_json);
  return template_json;
}

function buildView(root: MjmlNode): EditorView {
  const children = root.children ?? [];
  const parts = children.map((part) =>
    part.tagName === 'mj-head'
      ? { ...part, children: part.children?.map((child) => wrapped(child, SUPPORTED_IN_HEAD)) ?? [] }
      : wrapped(part, SUPPORTED),
  );
  const isDrawable = children.every((part) =>
    // With mj-attributes the editor would remove attributes that it considers defaults.
    part.tagName === 'mj-head'
      ? !part.children?.some(({ tagName }) => tagName === 'mj-attributes')
      : part.tagName === 'mj-body',
  );
  return { mjml: toMarkup({ ...root, children: isDrawable ? parts : children }), isDrawable };
}

/** The element as the editor gets it; `supported` are those that it knows here. */
function wrapped(element: MjmlNode, supported: ReadonlySet<string>): MjmlNode {
  const { tagName, attributes, children, content = '' } = element;
  if (tagName === 'mj-raw') return { tagName, attributes: { ...attributes, [KEPT_HTML]: content } };
  if (!supported.has(tagName)) return { tagName: 'mj-raw', attributes: { [KEPT_MJML]: toMarkup(element) } };
  return children === undefined
    ? element
    : { ...element, children: children.map((child) => wrapped(child, supported)) };
}

/** The element as it is stored. Throws ContentError when kept MJML, which the owner may have edited, is not one element. */
function unwrapped(element: MjmlNode): MjmlNode {
  const { tagName, attributes, children } = element;
  const { [KEPT_HTML]: html, [KEPT_MJML]: mjml, ...others } = attributes;
  if (tagName === 'mj-raw' && mjml !== undefined) {
    const [kept, ...more] = fromMarkup(`<mjml>${mjml}</mjml>`).children;
    if (kept === undefined || more.length > 0) throw new ContentError('A part in MJML is not one element.');
    return kept;
  }
  // The editor writes style sheets as if they were text.
  if (tagName === 'mj-style') return { ...element, content: unescaped(element.content ?? '') };
  if (tagName === 'mj-raw' && html !== undefined) return { tagName, attributes: others, content: html };
  return children === undefined ? element : { ...element, children: children.map(unwrapped) };
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function headElements(root: MjmlNode | null): readonly MjmlNode[] {
  return root?.children?.filter((child) => child.tagName === 'mj-head') ?? [];
}
