/** Checks templates in MJML's JSON form node by node, and renders them to HTML without access to the file system. */
import { sentence } from '../../errors/sentences.ts';
import { isObject, parseJson } from '../../json.ts';
import { SHOW_TO } from './block-attributes.ts';
import { ContentError } from './compiled-content.ts';
import { hasMoreParts } from './json-size.ts';

export interface MjmlNode {
  readonly tagName: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children?: readonly MjmlNode[];
  readonly content?: string;
}

/** The maximum nesting depth; the outermost element has depth 0. */
const MAX_DEPTH = 50;
/** The maximum number of elements in a template; a long newsletter has about 300. */
const MAX_ELEMENTS = 5000;
/** The maximum number of elements, attributes and lists in a template's JSON; parsing this many takes a few milliseconds. */
const MAX_PARTS = 30_000;

/**
 * The maximum product of the number of selectors in inline styles and the number of elements. Matching that many takes about two seconds.
 */
const MAX_INLINED = 1_000_000;

interface Count {
  elements: number;
}

/**
 * Parses a template in MJML's JSON form, keeping only tags, attributes and content.
 * @throws ContentError with a message for the owner.
 */
export function parseMjml(json: string): MjmlNode {
  if (hasMoreParts(json, MAX_PARTS)) throw new ContentError(sentence('mjml_parts', { count: MAX_PARTS }));
  const value = parseJson(json);
  if (value === undefined) throw new ContentError(sentence('mjml_not_json'));
  if (!isObject(value) || value.tagName !== 'mjml') {
    throw new ContentError(sentence('mjml_no_document'));
  }
  const root = toNode(value, 0, { elements: 0 });
  if (!root.children?.some((child) => child.tagName === 'mj-body')) {
    throw new ContentError(sentence('mjml_no_body'));
  }
  const { selectors, elements } = countInlined(root);
  if (selectors * elements > MAX_INLINED) {
    throw new ContentError(sentence('mjml_styles'));
  }
  return root;
}

/** Counts the selectors of inline styles, which MJML writes into the elements, and all elements, including HTML elements in texts. */
function countInlined({ tagName, attributes, content = '', children = [] }: MjmlNode) {
  const isInlined = tagName === 'mj-style' && attributes.inline !== undefined;
  const count = { selectors: isInlined ? content.split(/[{,]/).length : 0, elements: content.split('<').length };
  for (const child of children) {
    const { selectors, elements } = countInlined(child);
    count.selectors += selectors;
    count.elements += elements;
  }
  return count;
}

/**
 * Renders an MJML document to HTML. Fonts are loaded only for the template's own mj-font elements.
 * @param preview whether to keep mj-preview; false if the mail has its own preheader.
 * @throws ContentError with a message for the owner.
 */
export async function renderMjml(root: MjmlNode, preview: boolean): Promise<string> {
  const document = withEscapedQuotes(withConditions(preview ? root : without(root, 'mj-preview')));
  const { default: mjml2html } = await import('mjml');
  const { html, errors } = await mjml2html(document as Parameters<typeof mjml2html>[0], {
    fonts: {},
    ignoreIncludes: true,
    validationLevel: 'soft',
  });
  // MJML drops unknown elements, so the mail would lack them. Other findings of its validator are harmless.
  const unknown = errors.find((error) => /^Element \S+ doesn't exist/.test(error.message));
  if (unknown) throw unknownElement(unknown.tagName);
  return html;
}

/** Throws ContentError if an element is nested too deeply. */
export function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new ContentError(sentence('mjml_nested', { count: MAX_DEPTH }));
}

/** Throws ContentError if there are too many elements. */
export function checkCount(elements: number): void {
  if (elements > MAX_ELEMENTS) throw new ContentError(sentence('mjml_elements', { count: MAX_ELEMENTS }));
}

function toNode(value: unknown, depth: number, count: Count): MjmlNode {
  checkDepth(depth);
  checkCount(++count.elements);
  if (!isObject(value) || typeof value.tagName !== 'string') {
    throw new ContentError(sentence('mjml_no_tag'));
  }
  const { tagName, attributes = {}, children, content } = value;
  if (!/^mj(?:ml|-[a-z-]+)$/.test(tagName)) throw unknownElement(tagName);
  if (!isObject(attributes)) throw new ContentError(sentence('mjml_attributes', { name: tagName }));
  if (children !== undefined && !Array.isArray(children)) {
    throw new ContentError(sentence('mjml_children', { name: tagName }));
  }
  if (content !== undefined && typeof content !== 'string') {
    throw new ContentError(sentence('mjml_content', { name: tagName }));
  }
  if (tagName === 'mj-include' || (content && /<mj-include\b/i.test(content))) {
    throw new ContentError(sentence('mjml_include'));
  }
  const present = Object.entries(attributes).filter(([, text]) => text !== null);
  const own = present.map(([name, text]) => [name, String(text)]);
  const clean = { tagName, attributes: Object.fromEntries(own) as Record<string, string> };
  // MJML uses the name as a regular expression.
  if (tagName === 'mj-font' && !/^[\w -]*$/.test(clean.attributes.name ?? '')) {
    throw new ContentError(sentence('mjml_font'));
  }
  return {
    ...clean,
    ...(children && { children: children.map((child) => toNode(child, depth + 1, count)) }),
    ...(content !== undefined && { content }),
  };
}

function unknownElement(tagName: string): ContentError {
  return new ContentError(sentence('mjml_unknown', { name: tagName.slice(0, 40) }));
}

function without(parent: MjmlNode, tagName: string): MjmlNode {
  if (!parent.children) return parent;
  const kept = parent.children.filter((child) => child.tagName !== tagName);
  return { ...parent, children: kept.map((child) => without(child, tagName)) };
}

/** Returns the mark that begins the condition under which an element is shown; null if every contact gets the element. */
export function conditionOf({ attributes }: MjmlNode): string | null {
  const written = attributes[SHOW_TO]?.trim() ?? '';
  return written === '' ? null : `((if ${written}))`;
}

/** Puts the marks of a condition around each element that only some contacts get. */
function withConditions(parent: MjmlNode): MjmlNode {
  if (!parent.children) return parent;
  const mark = (content: string): MjmlNode => ({ tagName: 'mj-raw', attributes: {}, content });
  const children = parent.children.flatMap((child) => {
    const begin = conditionOf(child);
    return begin === null ? [withConditions(child)] : [mark(begin), withConditions(child), mark('((end))')];
  });
  return { ...parent, children };
}

/** Escapes the quotes in the attributes of the body, because MJML writes them into the HTML unescaped. */
function withEscapedQuotes(element: MjmlNode): MjmlNode {
  if (element.tagName === 'mj-head') return element;
  const attributes = Object.fromEntries(
    Object.entries(element.attributes).map(([name, value]) => [name, value.replaceAll('"', '&quot;')]),
  );
  return { ...element, attributes, ...(element.children && { children: element.children.map(withEscapedQuotes) }) };
}
