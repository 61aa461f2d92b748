/** Shows an owner a mail as one recipient would see it. */
import { type Content, ContentError } from './compiled-content.ts';
import { mergeHtml, mergeLine, mergeText, type Template, type Values } from './merge.ts';

/** The limit is for the merged mail, because a template may repeat a long value any number of times. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** The mail merged with a recipient's values. Throws ContentError if it is too large to show. */
export function renderPreview(content: Content, values: Values): { subject: string; html: string; text: string } {
  if (mergedLength(content.html, values) + mergedLength(content.text, values) > MAX_CHARACTERS)
    throw new ContentError('The mail is too large to be shown: with its values it has more than 8 million characters.');
  return {
    subject: mergeLine(content.subject, values),
    html: mergeHtml(content.html, values),
    text: mergeText(content.text, values),
  };
}

/** The number of characters of the merged template, before values are escaped. */
function mergedLength(template: Template, values: Values): number {
  return template.reduce(
    (sum, piece) => sum + (typeof piece === 'string' ? piece.length : (values[piece.name] ?? piece.fallback).length),
    0,
  );
}
