/**
 * The trap link: a link in each tracked mail that no person sees, hears or reaches by keyboard, so that only machines follow it. It has no
 * text, so that mail clients without style sheets show nothing either.
 */

/** The link number of the trap link; mails have far fewer links. */
export const TRAP_LINK = 999_999;

/** Returns the HTML of the trap link. `href` is inserted unescaped. */
export function trapHtml(href: string): string {
  return `<a href="${href}" rel="nofollow" tabindex="-1" aria-hidden="true" style="display:none"></a>`;
}
