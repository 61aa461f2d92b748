/** Bounces from before there was a standard, in the two forms that can be told from ordinary text. */
import { failedReport, MOST_RECIPIENTS, type RecipientReport } from './delivery-status.ts';

/**
 * qmail's notice (QSBMF): an introduction that begins `Hi. This is the`, a paragraph for each failed recipient, a paragraph that
 * begins with a hyphen. Empty when the text is none.
 */
export function readQmailNotice(text: string): RecipientReport[] {
  const paragraphs = text.split(/\r?\n[ \t]*\r?\n/, MOST_RECIPIENTS + 1);
  if (paragraphs[0]?.startsWith('Hi. This is the') !== true) return [];
  const end = paragraphs.findIndex((paragraph) => paragraph.startsWith('-'));
  return paragraphs.slice(1, end === -1 ? undefined : end).flatMap((paragraph) => {
    const [, recipient = '', said = ''] = /^<([^>]{1,320})>:\s*(.*)$/s.exec(paragraph.slice(0, 3000)) ?? [];
    const status = /\(#([245]\.\d{1,3}\.\d{1,3})\)/.exec(said)?.[1] ?? null;
    return recipient === '' ? [] : [failedReport(recipient, status, said)];
  });
}

/**
 * Exim's notice, before it wrote delivery reports: the failed addresses in the field X-Failed-Recipients, which warnings of a
 * delay do not carry, and the reason in the text under each address.
 */
export function readEximNotice(failedRecipients: string, text: string): RecipientReport[] {
  return failedRecipients
    .slice(0, 320 * MOST_RECIPIENTS)
    .split(',', MOST_RECIPIENTS)
    .map((address) => address.trim())
    .filter((address) => address.includes('@'))
    .map((address) => {
      const at = text.indexOf(address);
      const said = at === -1 ? '' : text.slice(at + address.length, at + address.length + 2000);
      return failedReport(address, null, said.split(/\n[ \t]*\r?\n/, 1)[0] ?? '');
    });
}
