/**
 * Measures a mail's subject and HTML, as plain data that one thread can send to another. The bytes that all recipients share are counted
 * once, in the thread that compiles mails, so that measuring the mail of one recipient costs little.
 */
import type { Content } from '../content/compiled-content.ts';
import type { Condition } from '../content/conditions.ts';
import { escapeHtml, resolve, type Values } from '../content/merge.ts';
import {
  branchesAt,
  CLICK_URL,
  OPEN_URL,
  type Placeholder,
  PREFERENCES,
  placeholderNames,
  scan,
  type Template,
  WEB_COPY,
} from '../content/placeholders.ts';

/** The size of a text, as far as it is the same for all recipients. */
export interface MeasuredText {
  /** The bytes of the parts that are the same for all recipients. */
  readonly bytes: number;
  /** The placeholders, each with the number of times that the text contains it. */
  readonly uses: readonly { readonly placeholder: Placeholder; readonly times: number }[];
  readonly conditions: readonly MeasuredCondition[];
}

export interface MeasuredCondition {
  readonly when: Condition;
  readonly ifTrue: MeasuredText;
  readonly ifFalse: MeasuredText;
}

export interface MeasuredMail {
  readonly subject: string;
  readonly ofSubject: MeasuredText;
  readonly ofHtml: MeasuredText;
  /** The names of the merge tags in the subject and the HTML. */
  readonly placeholders: readonly string[];
  /** Values that are the same for all recipients. */
  readonly constants: Values;
}

/** The approximate length of a recipient's personal URLs. */
const URL_LENGTH = 90;
const PERSONAL_URLS: ReadonlySet<string> = new Set([PREFERENCES, WEB_COPY, OPEN_URL, CLICK_URL]);

/** Measures a mail. `constants` are the values that all recipients share. */
export function measureMail({ subject, html }: Pick<Content, 'subject' | 'html'>, constants: Values): MeasuredMail {
  const parts = scan(subject);
  const [ofSubject, ofHtml] = [measureText(parts, constants), measureText(html, constants)];
  return { subject, ofSubject, ofHtml, placeholders: placeholderNames([parts, html]), constants };
}

function measureText(template: Template, constants: Values): MeasuredText {
  const uses = new Map<string, { placeholder: Placeholder; times: number }>();
  const conditions: MeasuredCondition[] = [];
  let bytes = 0;
  for (let at = 0; at < template.length; at++) {
    const piece = template[at] ?? '';
    const branches = branchesAt(template, at);
    if (typeof piece === 'string') bytes += Buffer.byteLength(piece);
    else if (branches !== null) {
      const { when, ifTrue, ifFalse, next } = branches;
      conditions.push({ when, ifTrue: measureText(ifTrue, constants), ifFalse: measureText(ifFalse, constants) });
      at = next - 1;
    } else if (PERSONAL_URLS.has(piece.name)) bytes += URL_LENGTH;
    else if (Object.hasOwn(constants, piece.name)) bytes += bytesOf(piece, constants[piece.name]);
    else {
      const key = JSON.stringify(piece);
      const use = uses.get(key) ?? { placeholder: piece, times: 0 };
      uses.set(key, use);
      use.times++;
    }
  }
  return { bytes, uses: [...uses.values()], conditions };
}

/** The bytes that a value takes in place of a placeholder in the HTML. */
export function bytesOf(placeholder: Placeholder, value: string | undefined): number {
  return Buffer.byteLength(escapeHtml(resolve(placeholder, value)));
}
