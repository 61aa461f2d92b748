/**
 * Pasting into a text of the mail. Text from Word or a web page takes the look of the text that it is pasted into: it keeps paragraphs,
 * lists, links and emphasis, but not its fonts, sizes, colours and images.
 */
import type { Editor } from 'grapesjs';
import { escaped, say, tell } from './page.ts';

/** Cleans what is pasted into the mail. Says so if images were left out. */
export function cleanPastes(editor: Editor): void {
  const mail = editor.Canvas.getDocument();
  mail?.addEventListener('paste', (event) => {
    const pasted = event.clipboardData?.getData('text/html') ?? '';
    if (editor.getEditing() === undefined || pasted === '') return;
    event.preventDefault();
    const source = new DOMParser().parseFromString(pasted, 'text/html');
    mail.execCommand('insertHTML', false, cleanHtml(source));
    if (source.images.length > 0) tell(say('designer.pasted.images'));
  });
}

/** Returns the HTML of a document without everything that belongs to its look. */
function cleanHtml(source: Document): string {
  makeWordLists(source);
  const html = cleanChildren(source.body).replaceAll(SPACES_AT_BLOCKS, '').trim();
  // A single paragraph continues the paragraph that it is pasted into.
  return withoutParagraph(html);
}

/** Turns the list items of Word, which are paragraphs that begin with a bullet or a number, into lists. */
function makeWordLists(source: Document): void {
  const made = new Set<Element | null>();
  for (const item of source.querySelectorAll('p[style*="mso-list:l" i]')) {
    const marker = item.querySelector('[style*="mso-list:Ignore" i]');
    const tag = /^\s*\(?[\da-z]+[.)]/i.test(marker?.textContent ?? '') ? 'OL' : 'UL';
    marker?.remove();
    let list = item.previousElementSibling;
    if (list?.tagName !== tag || !made.has(list)) {
      list = source.createElement(tag);
      made.add(list);
      item.before(list);
    }
    const entry = source.createElement('li');
    entry.append(...item.childNodes);
    list.append(entry);
    item.remove();
  }
}

const cleanChildren = (node: Node) => [...node.childNodes].map(cleanNode).join('');

/** Returns the HTML of a node that is kept of it. */
function cleanNode(node: Node): string {
  if (node instanceof Text) return escaped(node.data.replaceAll(/[\t\n\r ]+/g, ' '));
  if (!(node instanceof HTMLElement)) return '';
  const inner = cleanChildren(node);
  switch (node.tagName) {
    case 'SCRIPT':
    case 'STYLE':
    case 'TITLE':
    case 'TEMPLATE':
      return '';
    case 'BR':
      return '<br>';
    case 'UL':
    case 'OL':
    case 'BLOCKQUOTE': {
      const tag = node.tagName.toLowerCase();
      return inner.trim() === '' ? '' : `<${tag}>${inner.trim()}</${tag}>`;
    }
    case 'LI':
      return `<li>${withoutParagraph(inner.trim())}</li>`;
    case 'H1':
    case 'H2':
    case 'H3':
    case 'H4':
    case 'H5':
    case 'H6':
      return paragraph(within('strong', inner));
    case 'P':
    case 'DIV':
    case 'SECTION':
    case 'ARTICLE':
    case 'TR':
      return paragraph(inner);
    case 'TD':
    case 'TH':
      return `${inner} `;
    default:
      return emphasis(node, inner);
  }
}

/** Returns HTML as a paragraph; unchanged if it has paragraphs or lists of its own, and empty if it has no text. */
function paragraph(html: string): string {
  if (hasBlocks(html)) return html;
  return html.trim() === '' ? '' : `<p>${html.trim()}</p>`;
}

/** Returns the HTML in a paragraph, if the HTML is a single paragraph; otherwise the same HTML. */
function withoutParagraph(html: string): string {
  return /^<p>((?:(?!<p>).)*)<\/p>$/s.exec(html)?.[1] ?? html;
}

/** Returns the HTML within the element's link and emphasis, which a style sheet may have given it. */
function emphasis(element: HTMLElement, inner: string): string {
  const { fontWeight, fontStyle, textDecorationLine } = element.style;
  const tag = element.tagName;
  let html = inner;
  if (fontWeight === '' ? ['B', 'STRONG'].includes(tag) : /^(?:bold|[6-9]00)/.test(fontWeight))
    html = within('strong', html);
  if (fontStyle === '' ? ['I', 'EM'].includes(tag) : fontStyle === 'italic') html = within('em', html);
  if (tag === 'S' || textDecorationLine.includes('line-through')) html = within('s', html);
  if ((tag === 'U' || textDecorationLine.includes('underline')) && element.closest('a') === null)
    html = within('u', html);
  if (tag === 'SUB' || tag === 'SUP') html = within(tag.toLowerCase(), html);
  const href = element.getAttribute('href') ?? '';
  return tag === 'A' && /^(?:https?:|mailto:|tel:)/i.test(href) ? within('a', html, ` href="${escaped(href)}"`) : html;
}

/** Returns HTML within an element; unchanged if it has paragraphs or lists, which the element must not contain, or no text. */
function within(tag: string, html: string, attributes = ''): string {
  return hasBlocks(html) || html.trim() === '' ? html : `<${tag}${attributes}>${html}</${tag}>`;
}

const hasBlocks = (html: string) => /<(?:p|ul|ol|li|blockquote)>/.test(html);

/** Spaces before or after the tag of a paragraph or a list, which browsers do not show. */
const SPACES_AT_BLOCKS = /(?<=<\/?(?:p|ul|ol|li|blockquote)>) +| +(?=<\/?(?:p|ul|ol|li|blockquote)>)/g;
