/** Extracts the text from a feed's HTML. Nothing else of the HTML goes into a mail, so that no feed can insert markup, scripts or pictures. */
import { Parser } from 'htmlparser2';

/** The number of characters that are read of one text. The rest cannot affect the few that are kept. */
const MAX_READ = 20_000;
/** The elements whose text is not shown. */
const HIDDEN = new Set(['script', 'style', 'head', 'title', 'template', 'noscript']);
/** The elements that do not separate words. */
const INLINE = new Set('a abbr b bdi cite code em i mark q s small span strong sub sup u'.split(' '));

/** Returns the words of HTML in one line of at most `maxLength` characters. A longer text ends with an ellipsis. */
export function htmlText(html: string, maxLength: number): string {
  let text = '';
  let hiddenDepth = 0;
  const parser = new Parser({
    ontext: (part) => {
      if (hiddenDepth === 0) text += part;
    },
    onopentagname: (name) => {
      if (HIDDEN.has(name)) hiddenDepth++;
      else if (!INLINE.has(name)) text += ' ';
    },
    onclosetag: (name) => {
      if (HIDDEN.has(name)) hiddenDepth--;
      else if (!INLINE.has(name)) text += ' ';
    },
  });
  parser.write(html.slice(0, MAX_READ));
  parser.end();
  return shortened(text, maxLength);
}

/** Returns a text in one line of at most `maxLength` characters, without control characters. */
export function shortened(text: string, maxLength: number): string {
  const line = text
    .slice(0, MAX_READ)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are replaced
    .replace(/[\s\0-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ')
    .replace(/\p{Surrogate}/gu, '')
    .trim();
  const characters = [...line];
  return characters.length <= maxLength
    ? line
    : `${characters
        .slice(0, maxLength - 1)
        .join('')
        .trimEnd()}…`;
}
