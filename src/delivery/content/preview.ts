/** Shows an owner a mail as one recipient would see it. */
import { MergedSize } from '../mime/merged-size.ts';
import type { Content } from './compiled-content.ts';
import { mergeHtml, mergeLine, mergeText, type Values } from './merge.ts';
import { untrackedText, withMarkedLinks } from './web-copy.ts';

/** The mail merged with a recipient's values. Throws MergedTooLarge where they would not get it, either. */
export function renderPreview(content: Content, values: Values): { subject: string; html: string; text: string } {
  new MergedSize(content).require((name) => values[name]);
  return {
    subject: mergeLine(content.subject, values),
    html: mergeHtml(content.html, values),
    text: mergeText(content.text, values),
  };
}

/** The same with tracked links that lead to their destination and have their number as `data-link`. */
export function renderMarked(content: Content, values: Values): { subject: string; html: string; text: string } {
  return renderPreview({ ...content, html: withMarkedLinks(content), text: untrackedText(content) }, values);
}
