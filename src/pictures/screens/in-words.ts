/** What the pages say about a picture. */
import type { Language } from '../../dashboard/words/index.ts';
import type { Picture } from '../operations.ts';

/** Where the browser loads a picture: on this page's own origin, which may differ from that in mails. */
export function pathOf({ url }: Picture): string {
  return new URL(url).pathname;
}

/** Pixels and bytes, such as “600 × 400 · 24 kB”. */
export function measures(language: Language, { width, height, size }: Picture): string {
  return `${language.number(width)} × ${language.number(height)} · ${language.bytes(size)}`;
}

/** How often a picture is used, by what uses it. */
export function usesInWords(
  language: Language,
  { single_sends, automation_mails, sent_mails, templates, blocks, brands }: Picture,
): string {
  const parts = [
    ...(single_sends > 0 ? [language.say('pictures.uses.mailings', { count: single_sends })] : []),
    ...(automation_mails > 0 ? [language.say('pictures.uses.automations', { count: automation_mails })] : []),
    ...(templates > 0 ? [language.say('pictures.uses.templates', { count: templates })] : []),
    ...(blocks > 0 ? [language.say('pictures.uses.blocks', { count: blocks })] : []),
    ...(brands > 0 ? [language.say('pictures.uses.brand')] : []),
    ...(sent_mails > 0 ? [language.say('pictures.uses.sent', { count: sent_mails })] : []),
  ];
  return parts.length === 0 ? language.say('pictures.uses.none') : parts.join(' · ');
}
