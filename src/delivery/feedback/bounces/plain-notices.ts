/** Bounces in plain text, from before there was a standard; only forms that cannot be confused with an ordinary mail. */
import { failedReport, MAX_RECIPIENTS, type RecipientReport } from './delivery-status.ts';

/** The first words of qmail's notice (https://cr.yp.to/proto/qsbmf.txt) and of two former notices of Yahoo. */
const INTRODUCTION =
  /^(?:Hi\. This is the|(?:Message from {1,3}[\w.-]{1,255}\r?\n)?Unable to deliver message to the following address|Sorry, we were unable to deliver your message to the following address)/;

/**
 * Parses qmail's notice and Yahoo's former one of the same form: an introduction, a paragraph for each failed recipient, and a
 * paragraph that begins with a hyphen (in Japan with an equals sign). Returns an empty list for any other text.
 */
export function readQmailNotice(text: string): RecipientReport[] {
  const paragraphs = text.split(/\r?\n[ \t]*\r?\n/, MAX_RECIPIENTS + 1);
  if (!INTRODUCTION.test(paragraphs[0] ?? '')) return [];
  const end = paragraphs.findIndex((paragraph) => /^[-=]/.test(paragraph));
  return paragraphs.slice(1, end === -1 ? undefined : end).flatMap((paragraph) => {
    const [, recipient = '', said = ''] = /^<([^>]{1,320})>:\s*(.*)$/s.exec(paragraph.slice(0, 3000)) ?? [];
    const status = /\(#([245]\.\d{1,3}\.\d{1,3})\)/.exec(said)?.[1] ?? null;
    return recipient === '' ? [] : [failedReport(recipient, status, said)];
  });
}

/**
 * Parses the notice that Exim sent before it wrote delivery reports: the failed addresses are in the field X-Failed-Recipients,
 * which warnings of a delay do not have, and the reason is in the text after each address.
 */
export function readEximNotice(failedRecipients: string, text: string): RecipientReport[] {
  return failedRecipients
    .slice(0, 320 * MAX_RECIPIENTS)
    .split(',', MAX_RECIPIENTS)
    .map((address) => address.trim())
    .filter((address) => address.includes('@'))
    .map((address) => {
      const at = text.indexOf(address);
      const said = at === -1 ? '' : text.slice(at + address.length, at + address.length + 2000);
      return failedReport(address, null, said.split(/\n[ \t]*\r?\n/, 1)[0] ?? '');
    });
}
