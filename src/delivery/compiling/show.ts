/**
 * Shows mails without holding up the thread that asks: large ones are worked on in a thread of their own. Small ones are done at once,
 * because starting that thread would take longer. Each function is told for which account it works; accounts take turns.
 */
import { findPictureIds } from '../../database/functions/picture-ids.ts';
import { type ContentWarning, contentWarnings } from '../checks/content-checks.ts';
import { type Framing, frameMail, linkNames, type MailFrame, type MarkedLink } from '../shown/mail-frame.ts';
import {
  type CheckedContent,
  type Checking,
  type Copying,
  mergeShown,
  type Showing,
  type Shown,
  showContent,
  showCopy,
} from '../shown/shown-content.ts';
import { compiling, showing } from './compile.ts';

/** Characters of a mail that is looked at at once, which takes a few milliseconds. */
const MAX_SMALL = 64 * 1024;

/** The mail as JSON. Throws ContentError where the person would not get it, either. */
export async function show(accountId: number, mail: Showing): Promise<Shown> {
  return mail.frozen.length <= MAX_SMALL ? showContent(mail) : showing.ask(accountId, 'show', mail);
}

/** Its HTML. Throws as `show` does. */
export async function showHtml(accountId: number, mail: Showing): Promise<string> {
  return mail.frozen.length <= MAX_SMALL ? mergeShown(mail).html : showing.ask(accountId, 'showHtml', mail);
}

/** The HTML of the copy of a mail that a recipient has in the browser. Throws as `show` does. */
export async function copy(accountId: number, copying: Copying): Promise<string> {
  return copying.frozen.length <= MAX_SMALL ? showCopy(copying) : showing.ask(accountId, 'copy', copying);
}

/** What the checks say of it. Throws as `show` does. */
export function check(accountId: number, checking: Checking): Promise<CheckedContent> {
  return compiling.ask(accountId, 'check', checking);
}

/** The warnings about the texts of a mail, as `contentWarnings` gives them. */
export async function warnings(
  accountId: number,
  texts: readonly string[],
  known: readonly string[] | null,
): Promise<ContentWarning[]> {
  const isSmall = texts.reduce((sum, { length }) => sum + length, 0) <= MAX_SMALL;
  return isSmall ? contentWarnings(texts, known) : showing.ask(accountId, 'warnings', { texts, known });
}

/** The ids in a mail that may be those of pictures, as a JSON array. */
export async function pictureIds(accountId: number, html: string): Promise<string> {
  return html.length <= MAX_SMALL ? findPictureIds(html) : showing.ask(accountId, 'pictures', html);
}

/** The mail for a frame. */
export async function frame(accountId: number, framing: Framing): Promise<MailFrame> {
  return framing.html.length <= MAX_SMALL ? frameMail(framing) : showing.ask(accountId, 'frame', framing);
}

/** What the links in the HTML of a mail are called. */
export async function namesOfLinks(accountId: number, html: string): Promise<readonly MarkedLink[]> {
  return html.length <= MAX_SMALL ? linkNames(html) : showing.ask(accountId, 'links', html);
}
