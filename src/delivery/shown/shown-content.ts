/** Shows an owner a mail as one recipient would see it. */
import {
  type CheckContext,
  type ContentFinding,
  type ContentWarning,
  checkContent,
  contentWarnings,
  type SharedFinding,
} from '../checks/content-checks.ts';
import type { HeaderFinding } from '../checks/header-checks.ts';
import type { Finding } from '../checks/mail-checks.ts';
import { type MeasuredMail, measureMail } from '../checks/measured-mail.ts';
import type { ReadingFinding } from '../checks/reading-checks.ts';
import { FINDINGS, type FoundCheck, type Severity } from '../checks/severity.ts';
import { untracked, untrackedText, withMarkedLinks } from '../content/anonymous-content.ts';
import { foldToOneLine, mergeHtml, mergeLine, mergeText, type Values } from '../content/merge.ts';
import { allPieces, scan, type Template } from '../content/placeholders.ts';
import { MergedSize } from '../mime/merged-size.ts';
import { type FrozenContent, frozenVariant } from '../queue/ready-mailing.ts';

/** A mail, and the recipient for whom it is shown. */
export interface ShowInput {
  /** The JSON of a `FrozenMail`, in UTF-8. */
  readonly frozen: Uint8Array;
  /** The number of the variant; 0 is variant A. */
  readonly variant: number;
  /** The contact's values. The sender's values are added from the frozen content. */
  readonly values: Values;
  /** True if the HTML is included. */
  readonly hasHtml: boolean;
}

type FrozenMail = Pick<FrozenContent, 'content' | 'sender_name' | 'sender_address' | 'variants' | 'language'>;

/** A merged mail. */
export interface MergedMail {
  /** An object with `subject`, `html`, `text` and `text_length`, as JSON. */
  readonly json: string;
  /** The placeholders for which the contact has no value, whether or not they have a default. */
  readonly withoutValue: readonly string[];
}

/** The maximum number of characters of a text part that are shown: some hundred pages. */
const MAX_TEXT = 100_000;

/**
 * Merges the mail for one contact. Tracked links lead to their destination and have their number as `data-link`. Throws MergedTooLarge if
 * the mail would be too large to be sent to the contact.
 */
export function mergeShown({ frozen: json, variant, values: known, hasHtml }: ShowInput) {
  const frozen = parseFrozen(json);
  const { content, sender_name, sender_address } = frozenVariant(frozen, variant, known);
  const values: Values = { ...known, sender_name, sender_address };
  const shown = { ...content, html: withMarkedLinks(content), text: untrackedText(content) };
  new MergedSize(shown).requireFits((name) => values[name]);
  return {
    subject: mergeLine(shown.subject, values),
    html: hasHtml ? mergeHtml(shown.html, values) : '',
    text: mergeText(shown.text, values),
    withoutValue: content.placeholders.filter((name) => !name.startsWith('#') && !values[name]),
  };
}

function parseFrozen(json: Uint8Array): FrozenMail {
  return JSON.parse(new TextDecoder().decode(json));
}

function measureShown({ frozen, variant }: ShowInput): MeasuredMail {
  const { content, sender_name, sender_address } = frozenVariant(parseFrozen(frozen), variant, null);
  return measureMail(content, { sender_name, sender_address });
}

/** Returns the mail with the beginning of its text part. Throws MergedTooLarge. */
export function showContent(showing: ShowInput): MergedMail {
  const { subject, html, text, withoutValue } = mergeShown(showing);
  return { json: JSON.stringify({ subject, html, ...beginning(text) }), withoutValue };
}

/** Returns the beginning of a text part, and the length of the whole text part. */
function beginning(text: string): { text: string; text_length: number } {
  return { text: text.slice(0, MAX_TEXT), text_length: text.length };
}

/** A mail, and the recipient for whom its web copy is shown. */
export type CopyInput = Pick<ShowInput, 'frozen' | 'variant' | 'values'>;

/** Returns the HTML of the web copy of a mail. Throws MergedTooLarge. */
export function showCopy({ frozen, variant, values }: CopyInput): string {
  const html = untracked(frozenVariant(parseFrozen(frozen), variant, values).content);
  new MergedSize({ subject: '', html, text: [] }).requireFits((name) => values[name]);
  return mergeHtml(html, values);
}

/** The input of the checks, in addition to the mail itself. */
export interface CheckInput extends Omit<CheckContext, 'withoutValue' | 'unknown' | 'foreign'> {
  readonly showing: ShowInput;
  /** The mail's texts and template code as they were written. */
  readonly texts: readonly string[];
}

/** A merged mail with the results of its checks. */
export interface CheckedContent {
  subject: string;
  /** The beginning of the text part. */
  text: string;
  /** The length of the whole text part in characters. */
  text_length: number;
  own: ContentFinding[];
  shared: SharedFinding[];
  further: (ReadingFinding | HeaderFinding)[];
  /** The sizes that the checks for all recipients need. */
  measured: MeasuredMail;
}

/** A finding that is not good. */
export interface Fault {
  code: FoundCheck;
  severity: Severity;
  count: number;
  /** The largest good count; 0 if the check has no limit. */
  limit: number;
  names: string[];
}

/** Returns the findings that are not good, as launches record them and `sendlark check` prints them. */
export function faultsIn(findings: readonly (Finding | ContentFinding | ReadingFinding | HeaderFinding)[]): Fault[] {
  return findings
    .filter(({ isGood }) => !isGood)
    .map(({ check, values }) => ({
      code: check,
      severity: FINDINGS[check].severity,
      count: values.count,
      limit: 'limit' in values ? values.limit : 0,
      names: 'names' in values ? [...values.names] : [],
    }));
}

/** Merges the parts of a mail with all branches of its conditions, so that parts that only some contacts get are checked, too. */
function withAllBranches({ frozen: json, variant, values: known }: ShowInput) {
  const { content, sender_name, sender_address } = frozenVariant(parseFrozen(json), variant, known);
  const values: Values = { ...known, sender_name, sender_address };
  const all = (template: Template) => allPieces(template, (name) => values[name]);
  return {
    subject: foldToOneLine(mergeText(all(scan(content.subject)), values)),
    html: mergeHtml(all(withMarkedLinks(content)), values),
    text: mergeText(all(untrackedText(content)), values),
  };
}

/** Merges a mail and checks it. Throws MergedTooLarge. */
export function checkShown({ showing, texts, ...context }: CheckInput): CheckedContent {
  const { subject, html, text, withoutValue } = mergeShown(showing);
  const warnings = contentWarnings(texts, context.known);
  const warned = (code: ContentWarning['code']) =>
    warnings.find((warning) => warning.code === code) ?? { count: 0, names: [] };
  const unknown = warned('unknown_placeholders');
  const foreign = warned('foreign_tags');
  return {
    subject,
    ...beginning(text),
    ...checkContent({ html, text }, withAllBranches(showing), { ...context, withoutValue, unknown, foreign }),
    measured: measureShown(showing),
  };
}
