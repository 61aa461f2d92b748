/** Bounces from before there was a standard, in the forms that can be told from ordinary text. */
import { failedReport, MAX_RECIPIENTS, type RecipientReport } from './delivery-status.ts';

/** How qmail begins (https://cr.yp.to/proto/qsbmf.txt), and how Yahoo began in two periods. */
const INTRODUCTION =
  /^(?:Hi\. This is the|(?:Message from {1,3}[\w.-]{1,255}\r?\n)?Unable to deliver message to the following address|Sorry, we were unable to deliver your message to the following address)/;

/**
 * qmail's notice, and Yahoo's old one of the same form: an introduction, a paragraph for each failed recipient, a paragraph that
 * begins with a hyphen or, in Japan, an equals sign. Empty when the text is none.
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
 * Exim's notice, before it wrote delivery reports: the failed addresses in the field X-Failed-Recipients, which warnings of a
 * delay do not carry, and the reason in the text under each address.
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
