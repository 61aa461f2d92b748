/** Finds the names of the placeholders and conditions in template code as it is stored, HTML or MJML's JSON form. */
import { SHOW_TO } from './block-attributes.ts';
import { decodeText } from './html-regions.ts';
import { placeholderNames, scan, type Template } from './placeholders.ts';

/** Matches a condition for showing an element, in JSON. No two repetitions can match the same text. */
const SHOWN_TO = new RegExp(`"${SHOW_TO}"\\s{0,8}:\\s{0,8}"((?:[^"\\\\]|\\\\.){1,2000})"`, 'g');

/**
 * Returns the names in these texts, each once: those of placeholders, and those that conditions compare. A text may be plain text, HTML, or
 * JSON that contains such texts.
 */
export function namesInCode(texts: readonly string[]): string[] {
  return placeholderNames(texts.flatMap((text) => [scan(text, 'text', decode, String), ...conditionsOfElements(text)]));
}

function conditionsOfElements(text: string): Template[] {
  return [...text.matchAll(SHOWN_TO)].map(([, condition = '']) => scan(`((if ${decode(condition)}))((end))`));
}

/** Returns a part of HTML, of a JSON string, or of HTML in a JSON string as plain text. */
function decode(raw: string): string {
  return decodeText(raw.includes('\\') ? fromJsonString(raw) : raw);
}

/** Returns the text that a part of a JSON string stands for; `raw` itself if it is no such part. */
function fromJsonString(raw: string): string {
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return raw;
  }
}
