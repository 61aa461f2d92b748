/** The footer for a mail whose template has none, and the link before a long mail, in the template's background colour and with legible text. */
import { contrast, hexDigits } from './contrast.ts';
import type { Region } from './html-regions.ts';
import { PREFERENCES } from './merge.ts';

/** The attribute of the link before a long mail. */
export const LEAD = 'data-lead';
const WHITE = 'ffffff';
/** Text colours from low to high contrast; one of the last two is legible on any background. */
const TEXT_COLOURS = ['595959', 'c8ccd1', '000000', WHITE];

/**
 * The footer with postal address and preference link for a document with these regions. It sets its own background, so that
 * it stays legible when a mail program's dark mode changes the background of the page.
 */
export function footerFor(regions: readonly Region[]): string {
  const { style, link } = looks(regions);
  return `<div style="padding:16px;${style}">((sender_address))<br>${link}</div>`;
}

/** The preference link that stands first in a mail whose end mail programs cut off. The text part leaves it out. */
export function leadFor(regions: readonly Region[]): string {
  const { style, link } = looks(regions);
  return `<div ${LEAD}="" style="padding:4px 16px;${style}">${link}</div>`;
}

function looks(regions: readonly Region[]): { style: string; link: string } {
  const background = bodyBackground(regions);
  const color = TEXT_COLOURS.find((text) => contrast(text, background) >= 4.5) ?? '000000';
  return {
    style: `text-align:center;font:12px/18px Arial,Helvetica,sans-serif;background-color:#${background};color:#${color}`,
    link: `<a href="((${PREFERENCES}))" style="color:#${color}">Unsubscribe or change preferences</a>`,
  };
}

/** The background of the body in six digits if it is given as a hexadecimal colour, otherwise white. */
function bodyBackground(regions: readonly Region[]): string {
  const given = (attribute: string) =>
    regions.find((region) => region.tag === 'body' && region.attribute === attribute)?.value ?? '';
  const declared = given('style').matchAll(
    /(?:^|;)[ \t]{0,8}background(?:-color)?[ \t]{0,8}:[ \t]{0,8}(#[0-9a-f]{3,6})/gi,
  );
  const colours = [given('bgcolor').trim(), ...[...declared].map(([, colour = '']) => colour)];
  return colours.map(hexDigits).findLast((digits) => digits !== null) ?? WHITE;
}
