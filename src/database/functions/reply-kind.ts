/** Recognizes replies of mail servers, and stored reasons with such replies, that mean the same, so that they are counted together. */
import { Sentence } from '../../errors/sentences.ts';
import { isUnknown, readStored, stored, withTexts } from '../../errors/stored.ts';

/** The maximum length of a result in characters. */
const MAX_LENGTH = 200;
/** The maximum length of a reply within a sentence, so that both together stay within the limit of 200 characters. */
const MAX_QUOTED = 110;
const ADDRESS = /<?[^\s<>@"',;:()]+@[^\s<>@"',;()]+[^\s<>@"',;().:]>?/g;
const WORD = /[^\s<>()[\],;"']+/g;
/** A reply code, an enhanced status code (RFC 3463), or both as in a multi-line reply. */
const CODE = /^(?:[245]\d\d(?:-[245]\.\d{1,3}\.\d{1,3})?|[245]\.\d{1,3}\.\d{1,3})$/;
/** The text before a code: the start of a reply, a line or a quotation, or another code. */
const BEFORE_CODE = /(?:^|\n|: |\d )$/;
/** The length from which a word with digits counts as an id or a host name. Rule names such as `S3150` are shorter. */
const MIN_ID_LENGTH = 8;
/** An amount, a port or another number, or an IPv4 address. */
const NUMBER_OR_ADDRESS = /^\d{2,}$|^\d+(?:\.\d+){3}$/;

/**
 * Returns a reply without the parts that differ from mail to mail: addresses become `<address>`; queue ids, host names with
 * digits, times and amounts become `…`. Codes, words and short rule names such as `S3150` stay. At most 200 characters.
 */
export function replyKind(reply: string): string {
  return reply
    .slice(0, 2 * MAX_LENGTH)
    .replace(ADDRESS, '<address>')
    .replace(WORD, (word, at: number, text: string) => {
      const bare = word.replace(/[.:]+$/, '');
      if (!/\d/.test(bare) || (CODE.test(bare) && BEFORE_CODE.test(text.slice(Math.max(0, at - 2), at)))) return word;
      if (/^https?:/.test(bare)) return withoutIds(word);
      const isVariable = bare.length >= MIN_ID_LENGTH || NUMBER_OR_ADDRESS.test(bare);
      return isVariable ? `…${word.slice(bare.length)}` : word;
    })
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_LENGTH);
}

/**
 * Returns a stored reason without the parts that differ from mail to mail. A reply becomes its `replyKind`, and so do the
 * replies within a sentence. A code that this release does not know stays as it is, because the release that stored the reason counted it
 * under this code. In SQL, every connection has the function as `reply_kind`.
 */
export function reasonKind(reason: string): string {
  const said = readStored(reason);
  if (said instanceof Sentence) return stored(withTexts(said, (text) => replyKind(text).slice(0, MAX_QUOTED)));
  return isUnknown(reason) ? reason : stored(replyKind(said));
}

/** Returns the URL of a provider's explanation without the parts that identify the mail or the client. */
function withoutIds(url: string): string {
  const [scheme = '', empty = '', host = '', ...path] = url.split('/');
  return [scheme, empty, host, ...path.map((part) => (/\d/.test(part) ? '…' : part))].join('/');
}
