/** How deep an HTML document's elements stand within each other: what reads it costs the square of that. */
import { Parser } from 'htmlparser2';
import { ContentError } from './compiled-content.ts';

/** Mails stay below a hundred, their layout tables included. */
const MOST_DEPTH = 1000;

/** Throws ContentError as soon as elements are nested too deeply; those that HTML closes by itself count as closed. */
export function checkHtmlDepth(html: string): void {
  let depth = 0;
  const parser = new Parser({
    onopentag() {
      if (++depth > MOST_DEPTH)
        throw new ContentError(`The mail's HTML is nested too deeply: more than ${MOST_DEPTH} levels.`);
    },
    onclosetag() {
      depth--;
    },
  });
  parser.end(html);
}
