/**
 * The footer for mails whose template lacks one, and the preference link at the top of long mails. Both use the template's background
 * colour and a legible text colour.
 */
import { contrast, hexDigits } from './contrast.ts';
import type { Region } from './html-regions.ts';
import { PREFERENCES } from './merge.ts';

/** The attribute that marks the preference link at the top of a long mail. */
export const TOP_LINK = 'data-lead';
const WHITE = 'ffffff';
/** Text colours from low to high contrast; one of the last two is legible on any background. */
const TEXT_COLOURS = ['595959', 'c8ccd1', '000000', WHITE];

/**
 * Returns the footer with postal address and preference link for a document with these regions. It sets its own background, so that it
 * stays legible when a mail client's dark mode changes the page background.
 */
export function footerFor(regions: readonly Region[]): string {
  const { style, link } = stylesFor(regions);
  return `<div style="padding:16px;${style}">((sender_address))<br>${link}</div>`;
}

/** Returns the preference link for the top of a mail that is so long that mail clients clip its end. The text part skips this link. */
export function topLinkFor(regions: readonly Region[]): string {
  const { style, link } = stylesFor(regions);
  return `<div ${TOP_LINK}="" style="padding:4px 16px;${style}">${link}</div>`;
}

function stylesFor(regions: readonly Region[]): { style: string; link: string } {
  const background = bodyBackground(regions);
  const color = TEXT_COLOURS.find((text) => contrast(text, background) >= 4.5) ?? '000000';
  return {
    style: `text-align:center;font:12px/18px Arial,Helvetica,sans-serif;background-color:#${background};color:#${color}`,
    link: `<a href="((${PREFERENCES}))" style="color:#${color}">Unsubscribe or change preferences</a>`,
  };
}

/** The body's background as six hexadecimal digits; white if it is not given as a hexadecimal colour. */
function bodyBackground(regions: readonly Region[]): string {
  const given = (attribute: string) =>
    regions.find((region) => region.tag === 'body' && region.attribute === attribute)?.value ?? '';
  const declared = given('style').matchAll(
    /(?:^|;)[ \t]{0,8}background(?:-color)?[ \t]{0,8}:[ \t]{0,8}(#[0-9a-f]{3,6})/gi,
  );
  const colours = [given('bgcolor').trim(), ...[...declared].map(([, colour = '']) => colour)];
  return colours.map(hexDigits).findLast((digits) => digits !== null) ?? WHITE;
}
