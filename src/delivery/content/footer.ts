/**
 * The footer for mails whose template lacks one, and the preference link at the top of long mails. Both use the template's background
 * colour and a legible text colour.
 */
import { languageOfLocale, PAGE_LANGUAGES, type PageLanguage } from '../../languages.ts';
import { contrast, hexDigits } from './contrast.ts';
import type { Region } from './html-regions.ts';
import { PREFERENCES } from './merge.ts';

/** The attribute that marks the preference link at the top of a long mail. */
export const TOP_LINK = 'data-lead';
/** The text of the link to the recipient's preference page, by language. */
export const PREFERENCES_LINK: Readonly<Record<PageLanguage, string>> = {
  en: 'Unsubscribe or change preferences',
  de: 'Abmelden oder Einstellungen ändern',
  fr: 'Se désabonner ou modifier ses préférences',
  es: 'Darse de baja o cambiar preferencias',
  it: 'Annulla l’iscrizione o modifica le preferenze',
  nl: 'Afmelden of voorkeuren wijzigen',
  pl: 'Wypisz się lub zmień ustawienia',
  pt: 'Cancelar subscrição ou alterar preferências',
};
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
    link: `<a href="((${PREFERENCES}))" style="color:#${color}">${PREFERENCES_LINK[languageOf(regions)]}</a>`,
  };
}

/** The language that the document declares (HTML 3.2.6.2), if the footer has it; else English. */
function languageOf(regions: readonly Region[]): PageLanguage {
  const declared = regions.find(({ tag, attribute }) => tag === 'html' && attribute === 'lang')?.value ?? '';
  return languageOfLocale(declared.trim(), PAGE_LANGUAGES) ?? 'en';
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
