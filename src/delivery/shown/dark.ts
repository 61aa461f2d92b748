/** Shows a mail as programs do that follow what it says about dark colours. */

/** The ground and the text where the mail has no colours of its own. */
const DARK = '<style>:root { color-scheme: dark; }</style>';

/** The HTML of a mail whose rules for dark colours hold, and whose rules for light ones do not, whatever the browser prefers. */
export function inDark(html: string): string {
  const dark = html
    .replaceAll(/\(\s*prefers-color-scheme\s*:\s*dark\s*\)/gi, '(min-width: 0)')
    .replaceAll(/\(\s*prefers-color-scheme\s*:\s*light\s*\)/gi, '(max-width: 0)');
  return /<head\b[^<>]*>/i.test(dark) ? dark.replace(/<head\b[^<>]*>/i, `$&${DARK}`) : DARK + dark;
}
