/** Limits how deeply the elements of an HTML document are nested, because parsing takes time quadratic in the depth. */
import { Parser } from 'htmlparser2';
import { ContentError } from './compiled-content.ts';

/** Real mails stay below a hundred levels, including their layout tables. */
const MAX_DEPTH = 1000;

/** Throws ContentError if elements are nested too deeply. Elements that HTML closes implicitly count as closed. */
export function checkHtmlDepth(html: string): void {
  let depth = 0;
  const parser = new Parser({
    onopentag() {
      if (++depth > MAX_DEPTH)
        throw new ContentError(`The mail's HTML is nested too deeply: more than ${MAX_DEPTH} levels.`);
    },
    onclosetag() {
      depth--;
    },
  });
  parser.end(html);
}
