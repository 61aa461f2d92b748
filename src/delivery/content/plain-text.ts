/** Derives a mail's text part from its HTML. */
import { convert, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';
import { TOP_LINK } from './footer.ts';
import { scan, type Template } from './placeholders.ts';

/**
 * Converts HTML to the template of a text part: layout tables are flattened, hidden parts omitted, images replaced by their alternative
 * texts, and URLs put in brackets after the link text.
 * @param link returns the template for a URL.
 */
export function plainText(html: string, link: (url: string) => Template): Template {
  const urls: string[] = [];

  const anchor: FormatCallback = (element, walk, builder) => {
    // Browsers remove tabs and line breaks from a URL (WHATWG URL, 4.4).
    const url = String(element.attribs?.href ?? '')
      .replace(/[\t\r\n]/g, '')
      .trim();
    let words = '';
    builder.pushWordTransform((word) => {
      words += word;
      return word;
    });
    walk(element.children, builder);
    builder.popWordTransform();
    if (url === '' || url === words || url.startsWith('#')) return;
    // A marker stands in for the URL, because URLs are encoded differently from the surrounding text.
    const mark = `${markStart}${urls.push(url) - 1}${markEnd}`;
    builder.addInline(words === '' ? mark : ` (${mark})`, { noWordTransform: true });
  };
  const image: FormatCallback = (element, _walk, builder) => {
    builder.addInline(String(element.attribs?.alt ?? ''));
  };

  const text = convert(html, { ...options, formatters: { anchor, image } })
    // A mark of a condition that stands alone in a line leaves no empty line behind.
    .replace(/^[ \t]*(\(\((?:if[ \t][^()\n]*|else|end)\)\))[ \t]*\n+/gim, '$1')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  const parts = text.split(marks).map((part, index) => (index % 2 === 0 ? scan(part) : link(urls[Number(part)] ?? '')));
  return [...parts.flat(), '\n'];
}

// These are Unicode noncharacters, which never occur in text, because the compiler removes them from its source.
const markStart = '\ufdd0';
const markEnd = '\ufdd1';
const marks = new RegExp(`${markStart}(\\d+)${markEnd}`);

const options: HtmlToTextOptions = {
  wordwrap: false,
  selectors: [
    { selector: 'a', format: 'anchor' },
    { selector: 'area', format: 'skip' },
    { selector: 'img', format: 'image' },
    { selector: 'head', format: 'skip' },
    { selector: `[${TOP_LINK}]`, format: 'skip' },
    { selector: '[style*="display:none"]', format: 'skip' },
    { selector: '[style*="display: none"]', format: 'skip' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    ...['td', 'th'].map((selector) => ({
      selector,
      format: 'block',
      options: { leadingLineBreaks: 1, trailingLineBreaks: 1 },
    })),
    { selector: 'ul', options: { itemPrefix: '- ' } },
  ],
};
