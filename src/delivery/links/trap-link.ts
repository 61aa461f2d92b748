/**
 * The trap: a link in each tracked mail that nobody sees, hears or reaches by keyboard, so that whoever follows it is a machine. It has no
 * words, so that a mail program without styles shows nothing either.
 */

/** The number of the trap in the place of a link's; mails have far fewer links. */
export const TRAP_LINK = 999_999;

/** The HTML of the trap; `href` is written as it is. */
export function trapHtml(href: string): string {
  return `<a href="${href}" rel="nofollow" tabindex="-1" aria-hidden="true" style="display:none"></a>`;
}
