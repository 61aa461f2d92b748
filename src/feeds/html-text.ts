/** Extracts the text from a feed's HTML. Nothing else of it goes into a mail, so that no feed can insert markup, scripts or pictures. */
import { Parser } from 'htmlparser2';

/** The number of characters that are read of one text. The rest cannot affect the few that are kept. */
const MAX_READ = 20_000;
const UNSEEN = new Set(['script', 'style', 'head', 'title', 'template', 'noscript']);
const INLINE = new Set([
  'a',
  'abbr',
  'b',
  'bdi',
  'cite',
  'code',
  'em',
  'i',
  'mark',
  'q',
  's',
  'small',
  'span',
  'strong',
  'sub',
  'sup',
  'u',
]);

/** Returns the words of HTML in one line of at most `most` characters. A longer text ends with an ellipsis. */
export function htmlText(html: string, most: number): string {
  let text = '';
  let unseen = 0;
  const parser = new Parser({
    ontext: (part) => {
      if (unseen === 0) text += part;
    },
    onopentagname: (name) => {
      if (UNSEEN.has(name)) unseen++;
      else if (!INLINE.has(name)) text += ' ';
    },
    onclosetag: (name) => {
      if (UNSEEN.has(name)) unseen--;
      else if (!INLINE.has(name)) text += ' ';
    },
  });
  parser.write(html.slice(0, MAX_READ));
  parser.end();
  return shortened(text, most);
}

/** Returns a text in one line of at most `most` characters, without control characters. */
export function shortened(text: string, most: number): string {
  const line = text
    .slice(0, MAX_READ)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are replaced
    .replace(/[\s\0-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ')
    .replace(/\p{Surrogate}/gu, '')
    .trim();
  const characters = [...line];
  return characters.length <= most
    ? line
    : `${characters
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`;
}
