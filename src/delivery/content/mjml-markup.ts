/**
 * Converts MJML between its JSON form, which is stored, and its markup, which editors use. The markup is read by htmlparser2, the
 * parser that mjml uses. mjml-parser-xml, mjml's own code around it, is not used: it has no limits, looks for the line of each element
 * among all lines (1000 elements and 50 000 lines took 0.6 s), and keeps `&amp;` in attributes, which another round would encode again.
 */
import { Parser } from 'htmlparser2';
import { ContentError } from './compiled-content.ts';
import { escapeHtml } from './merge.ts';
import { checkCount, checkDepth, type MjmlNode } from './mjml.ts';

/** Elements whose content is HTML or text, not MJML. */
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

/** How deeply HTML may be nested within an element. */
const MAX_HTML_DEPTH = 500;

/** The markup of a document. */
export function toMarkup({ tagName, attributes, children = [], content }: MjmlNode): string {
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeHtml(value)}"`);
  return `<${tagName}${written.join('')}>${content ?? children.map(toMarkup).join('')}</${tagName}>`;
}

/**
 * Parses the markup of a document; text between MJML elements is dropped.
 * @throws ContentError if it is not one mjml element, or is larger or deeper than a template may be: the parser takes time
 * quadratic in the depth.
 */
export function fromMarkup(markup: string): Building {
  const top: Building = { tagName: '', attributes: {}, children: [] };
  const open: Building[] = [top];
  let elements = 0;
  /** The number of open HTML elements in an element's content; unclosed ones are closed at its end. */
  let htmlDepth = 0;
  let verbatim: { node: Building; from: number; depth: number } | null = null;
  const parser = new Parser(
    {
      onopentag(tagName, attributes) {
        if (verbatim !== null) {
          if (++htmlDepth > MAX_HTML_DEPTH)
            throw new ContentError(`The design's HTML is nested more than ${MAX_HTML_DEPTH} levels deep.`);
          if (tagName === verbatim.node.tagName) verbatim.depth++;
          return;
        }
        checkCount(++elements);
        checkDepth(open.length - 1);
        const node: Building = { tagName, attributes, children: [] };
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
  if (root?.tagName !== 'mjml') throw new ContentError('The design is not an MJML document.');
  return root;
}

interface Building {
  tagName: string;
  attributes: Record<string, string>;
  children: Building[];
  content?: string;
}
