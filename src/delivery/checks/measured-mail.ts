/** The sizes of a mail's subject and HTML as plain data: what its recipients share is counted once, in the thread that compiles mails. */

import type { Content } from '../content/compiled-content.ts';
import type { Condition } from '../content/conditions.ts';
import {
  branchesAt,
  CLICK_URL,
  escapeHtml,
  OPEN_URL,
  type Placeholder,
  PREFERENCES,
  placeholderNames,
  resolve,
  scan,
  type Template,
  type Values,
  WEB_COPY,
} from '../content/merge.ts';

/** A text: the bytes of its fixed parts, its values with the number of their places, and its conditions. */
export interface MeasuredText {
  readonly bytes: number;
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
  /** The merge tags in both. */
  readonly placeholders: readonly string[];
  /** Values that are the same for all recipients. */
  readonly constants: Values;
}

/** About as long as the personal URLs of a recipient. */
const URL_LENGTH = 90;
const OWN_URLS: ReadonlySet<string> = new Set([PREFERENCES, WEB_COPY, OPEN_URL, CLICK_URL]);

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
    } else if (OWN_URLS.has(piece.name)) bytes += URL_LENGTH;
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

/** The bytes of a value in one place of the HTML. */
export function bytesOf(placeholder: Placeholder, value: string | undefined): number {
  return Buffer.byteLength(escapeHtml(resolve(placeholder, value)));
}
