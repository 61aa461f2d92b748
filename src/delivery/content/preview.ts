/** A mail as one person would see it, shown to its owner. */
import { type Content, ContentError } from './compiled-content.ts';
import { mergeHtml, mergeLine, mergeText, type Template, type Values } from './merge.ts';

/** Characters. A template may repeat a long value any number of times. */
const MOST_CHARACTERS = 8 * 1024 * 1024;

/** The mail merged with a person's values. Throws ContentError when it is too large to be shown. */
export function previewOf(content: Content, values: Values): { subject: string; html: string; text: string } {
  if (lengthOf(content.html, values) + lengthOf(content.text, values) > MOST_CHARACTERS)
    throw new ContentError('The mail is too large to be shown: with its values it has more than 8 million characters.');
  return {
    subject: mergeLine(content.subject, values),
    html: mergeHtml(content.html, values),
    text: mergeText(content.text, values),
  };
}

/** Characters of the merged template, before values are escaped. */
function lengthOf(template: Template, values: Values): number {
  return template.reduce(
    (sum, piece) => sum + (typeof piece === 'string' ? piece.length : (values[piece.name] ?? piece.fallback).length),
    0,
  );
}
