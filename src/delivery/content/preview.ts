/** Shows an owner a mail as one recipient would see it. */
import { MergedSize } from '../mime/merged-size.ts';
import type { Content } from './compiled-content.ts';
import { mergeHtml, mergeLine, mergeText, type Values } from './merge.ts';

/** The mail merged with a recipient's values. Throws MergedTooLarge where they would not get it, either. */
export function renderPreview(content: Content, values: Values): { subject: string; html: string; text: string } {
  new MergedSize(content).require((name) => values[name]);
  return {
    subject: mergeLine(content.subject, values),
    html: mergeHtml(content.html, values),
    text: mergeText(content.text, values),
  };
}
