/** Converts templates between their stored form and the design editor, which supports only part of MJML. */

import { Parser } from 'htmlparser2';
import { sentence } from '../../errors/sentences.ts';
import { MEBIBYTE } from '../../units.ts';
import { ContentError } from './compiled-content.ts';
import { escapeHtml } from './merge.ts';
import { checkCount, checkDepth, type MjmlNode, parseMjml } from './mjml.ts';

/** A template as the design editor receives it. */
export interface EditorView {
  mjml: string;
  /** True if the editor can show and keep the whole template; if false, the owner edits the source. */
  isDrawable: boolean;
}

/** An attribute of an empty mj-raw in the editor's markup. It holds the HTML of an mj-raw, because the editor would change that HTML. */
const KEPT_HTML = 'data-html';
/**
 * An attribute of an empty mj-raw in the editor's markup. It holds the markup of an element that the editor does not support and would
 * lose.
 */
const KEPT_MJML = 'data-mjml';

const EMPTY_DESIGN =
  '<mjml><mj-body><mj-section><mj-column><mj-text>Write here</mj-text></mj-column></mj-section></mj-body></mjml>';

/** The elements that grapesjs-mjml supports. */
const SUPPORTED = new Set(
  'body button column divider group hero image navbar navbar-link raw section social social-element spacer text wrapper'
    .split(' ')
    .map((name) => `mj-${name}`),
);
const SUPPORTED_IN_HEAD = new Set(['mj-font', 'mj-style']);
/** The API's limit for the length of template code. */
const MAX_CHARACTERS = 2 * MEBIBYTE;

/** Converts a template in MJML's JSON form for the editor; '' is an empty design. Throws ContentError with a message for the owner. */
export function editorView(template_json: string): EditorView {
  return buildView(template_json === '' ? fromMarkup(EMPTY_DESIGN) : parseMjml(template_json));
}

/**
 * Converts the editor's markup to the JSON form; `before` is the template that was opened, or ''. Throws ContentError with a message for
 * the owner.
 */
export function editedTemplate(mjml: string, before: string): string {
  const drawn = fromMarkup(mjml);
  const opened = before === '' ? null : parseMjml(before);
  // The head of the opened template is kept if the editor showed the template, because the editor may have changed the head.
  const shown = opened !== null && buildView(opened).isDrawable ? opened : null;
  const head = headElements(shown);
  const parts = drawn.children.map(unwrap);
  const body = parts.filter(({ tagName }) => tagName !== 'mj-head');
  const attributes = opened?.attributes ?? drawn.attributes;
  const template = {
    tagName: 'mjml',
    attributes,
    children: [...(head.length > 0 ? head : headElements({ ...drawn, children: parts })), ...body],
  };
  const template_json = JSON.stringify(template);
  if (template_json.length > MAX_CHARACTERS) throw new ContentError(sentence('design_too_large'));
  parseMjml(template_json);
  return template_json;
}

function buildView(root: MjmlNode): EditorView {
  const children = root.children ?? [];
  const parts = children.map((part) =>
    part.tagName === 'mj-head'
      ? { ...part, children: part.children?.map((child) => wrap(child, SUPPORTED_IN_HEAD)) ?? [] }
      : wrap(part, SUPPORTED),
  );
  const isDrawable = children.every((part) =>
    // The editor would remove attributes that equal the defaults set in mj-attributes.
    part.tagName === 'mj-head'
      ? !part.children?.some(({ tagName }) => tagName === 'mj-attributes')
      : part.tagName === 'mj-body',
  );
  return { mjml: toMarkup({ ...root, children: isDrawable ? parts : children }), isDrawable };
}

/**
 * Returns the element as the editor gets it, with unsupported content wrapped. `supported` are the elements that the editor supports in
 * this place.
 */
function wrap(element: MjmlNode, supported: ReadonlySet<string>): MjmlNode {
  const { tagName, attributes, children, content = '' } = element;
  if (tagName === 'mj-raw') return { tagName, attributes: { ...attributes, [KEPT_HTML]: content } };
  if (!supported.has(tagName)) return { tagName: 'mj-raw', attributes: { [KEPT_MJML]: toMarkup(element) } };
  return children === undefined ? element : { ...element, children: children.map((child) => wrap(child, supported)) };
}

/**
 * Returns the element in its stored form. Throws ContentError if wrapped MJML, which the owner may have edited, is not a single element.
 */
function unwrap(element: MjmlNode): MjmlNode {
  const { tagName, attributes, children } = element;
  const { [KEPT_HTML]: html, [KEPT_MJML]: mjml, ...others } = attributes;
  if (tagName === 'mj-raw' && mjml !== undefined) {
    const [kept, ...more] = fromMarkup(`<mjml>${mjml}</mjml>`).children;
    if (kept === undefined || more.length > 0) throw new ContentError(sentence('design_part'));
    return kept;
  }
  // The editor escapes style sheets as if they were text.
  if (tagName === 'mj-style') return { ...element, content: unescaped(element.content ?? '') };
  if (tagName === 'mj-raw' && html !== undefined) return { tagName, attributes: others, content: html };
  return children === undefined ? element : { ...element, children: children.map(unwrap) };
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function headElements(root: MjmlNode | null): readonly MjmlNode[] {
  return root?.children?.filter((child) => child.tagName === 'mj-head') ?? [];
}

/** Elements whose content is HTML or text rather than MJML. */
const VERBATIM = new Set([
  'mj-accordion-text',
  'mj-accordion-title',
  'mj-button',
  'mj-html-attribute',
  'mj-navbar-link',
  'mj-preview',
  'mj-raw',
  'mj-social-element',
  'mj-style',
  'mj-table',
  'mj-text',
  'mj-title',
]);

/** The maximum nesting depth of HTML inside an element. */
const MAX_HTML_DEPTH = 500;

/** Writes a document as markup. */
export function toMarkup({ tagName, attributes, children = [], content }: MjmlNode): string {
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeHtml(value)}"`);
  return `<${tagName}${written.join('')}>${content ?? children.map(toMarkup).join('')}</${tagName}>`;
}

/**
 * Parses the markup of a document. Text between MJML elements is dropped.
 * @throws ContentError if the markup is not a single mjml element, or is larger or deeper than a template may be. The depth is limited
 * because the parser takes time quadratic in it.
 */
export function fromMarkup(markup: string): MutableNode {
  const top: MutableNode = { tagName: '', attributes: {}, children: [] };
  const open: MutableNode[] = [top];
  let elements = 0;
  /** The number of open HTML elements in the content of a verbatim element. Those that are never closed end with the content. */
  let htmlDepth = 0;
  let verbatim: { node: MutableNode; from: number; depth: number } | null = null;
  const parser = new Parser(
    {
      onopentag(tagName, attributes) {
        if (verbatim !== null) {
          if (++htmlDepth > MAX_HTML_DEPTH)
            throw new ContentError(sentence('design_nested', { count: MAX_HTML_DEPTH }));
          if (tagName === verbatim.node.tagName) verbatim.depth++;
          return;
        }
        checkCount(++elements);
        checkDepth(open.length - 1);
        const node: MutableNode = { tagName, attributes, children: [] };
        open.at(-1)?.children.push(node);
        if (VERBATIM.has(tagName)) verbatim = { node, from: parser.endIndex + 1, depth: 0 };
        else open.push(node);
      },
      onclosetag(tagName) {
        if (verbatim === null) {
          if (open.length > 1) open.pop();
          return;
        }
        htmlDepth--;
        if (tagName === verbatim.node.tagName && verbatim.depth-- === 0) {
          const { node, from } = verbatim;
          if (parser.startIndex > from) node.content = markup.slice(from, parser.startIndex).trim();
          verbatim = null;
          htmlDepth = 0;
        }
      },
    },
    { recognizeSelfClosing: true },
  );
  parser.end(markup);
  const [root] = top.children;
  if (root?.tagName !== 'mjml') throw new ContentError(sentence('design_not_mjml'));
  return root;
}

interface MutableNode {
  tagName: string;
  attributes: Record<string, string>;
  children: MutableNode[];
  content?: string;
}
