/**
 * Shows mails without blocking the calling thread: large mails are processed in a worker thread. Small mails are processed in the calling
 * thread, because starting the worker would take longer. Each function takes the id of an account, because accounts take turns in the worker.
 */
import { findPictureIds } from '../../database/functions/picture-ids.ts';
import { type CheckedBuiltMail, checkBuilt } from '../checks/built-mail.ts';
import { type ContentWarning, contentWarnings } from '../checks/content-checks.ts';
import type { MailParts } from '../checks/mail-checks.ts';
import { renderSentMail, type SentMail } from '../queue/sent-mail.ts';
import { linkNames, type MarkedLink } from '../shown/link-badges.ts';
import { type FrameInput, frameMail, type MailFrame } from '../shown/mail-frame.ts';
import { readParts } from '../shown/mail-parts.ts';
import { type SketchInput, sketchMail } from '../shown/mail-sketch.ts';
import {
  type CheckedContent,
  type CheckInput,
  type CopyInput,
  type MergedMail,
  mergeShown,
  type ShowInput,
  showContent,
  showCopy,
} from '../shown/shown-content.ts';
import { compileThread, showThread } from './compile.ts';

/** Mails up to this number of characters are processed in the calling thread, which takes a few milliseconds. */
const MAX_SMALL = 64 * 1024;

/** Returns a mail as a contact would get it. Throws a ContentError if the contact would not get the mail. */
export async function show(accountId: number, mail: ShowInput): Promise<MergedMail> {
  return mail.frozen.length <= MAX_SMALL ? showContent(mail) : showThread.ask(accountId, 'show', mail);
}

/** Returns the HTML of a mail as a contact would get it. Throws as `show` does. */
export async function showHtml(accountId: number, mail: ShowInput): Promise<string> {
  return mail.frozen.length <= MAX_SMALL ? mergeShown(mail).html : showThread.ask(accountId, 'showHtml', mail);
}

/** Returns the HTML of the web copy of a mail. Throws as `show` does. */
export async function showWebCopy(accountId: number, copying: CopyInput): Promise<string> {
  return copying.frozen.length <= MAX_SMALL ? showCopy(copying) : showThread.ask(accountId, 'copy', copying);
}

/** Returns the results of the checks of a mail. Throws as `show` does. */
export function checkMail(accountId: number, checking: CheckInput): Promise<CheckedContent> {
  return compileThread.ask(accountId, 'check', checking);
}

/** Returns the parts of a mail in the form in which it is sent, see `readParts`. */
export async function takeApart(accountId: number, raw: string): Promise<MailParts> {
  return raw.length <= MAX_SMALL ? readParts(raw) : showThread.ask(accountId, 'takeApart', raw);
}

/** Returns the links and the findings of a mail in the form in which it is sent, see `checkBuilt`. */
export async function checkParts(accountId: number, parts: MailParts): Promise<CheckedBuiltMail> {
  return (parts.html ?? '').length <= MAX_SMALL ? checkBuilt(parts) : showThread.ask(accountId, 'parts', parts);
}

/** Returns the warnings about the texts of a mail, see `contentWarnings`. */
export async function findWarnings(
  accountId: number,
  texts: readonly string[],
  known: readonly string[] | null,
): Promise<ContentWarning[]> {
  const isSmall = texts.reduce((sum, { length }) => sum + length, 0) <= MAX_SMALL;
  return isSmall ? contentWarnings(texts, known) : showThread.ask(accountId, 'warnings', { texts, known });
}

/** Returns the ids in a mail that may be ids of images, as a JSON array. */
export async function listPictureIds(accountId: number, html: string): Promise<string> {
  return html.length <= MAX_SMALL ? findPictureIds(html) : showThread.ask(accountId, 'pictures', html);
}

/** Returns a mail prepared for an iframe. */
export async function frame(accountId: number, framing: FrameInput): Promise<MailFrame> {
  return framing.html.length <= MAX_SMALL ? frameMail(framing) : showThread.ask(accountId, 'frame', framing);
}

/** Returns a small picture of a mail as SVG, see `sketchMail`. */
export async function sketch(accountId: number, code: SketchInput): Promise<string> {
  return code.json.length <= MAX_SMALL ? sketchMail(code) : showThread.ask(accountId, 'sketch', code);
}

/** Returns the tracked links in the HTML of a mail with their texts. */
export async function readLinkTexts(accountId: number, html: string): Promise<readonly MarkedLink[]> {
  return html.length <= MAX_SMALL ? linkNames(html) : showThread.ask(accountId, 'links', html);
}

/** Returns a sent mail with the bytes that were sent; null if they cannot be made again, see `renderSentMail`. */
export async function renderAgain(accountId: number, mail: SentMail): Promise<string | null> {
  return mail.content.length <= MAX_SMALL && mail.attachments.length === 0
    ? renderSentMail(mail)
    : showThread.ask(accountId, 'renderAgain', mail);
}
