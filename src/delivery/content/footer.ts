/**
 * The footer for mails whose template lacks one, and the preference link at the top of long mails. Both use the template's background
 * colour and a legible text colour.
 */
import { languageOfLocale, PAGE_LANGUAGES, type PageLanguage, preferredLanguage } from '../../languages.ts';
import { contrast, hexDigits, LEGIBLE } from './contrast.ts';
import type { Region } from './html-regions.ts';
import { FOOTER_LINK, type Placeholder, PREFERENCES } from './placeholders.ts';

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
/**
 * How the language of a footer is chosen. With `version`, the ISO 639-1 code of a version's language, the footer is in that language. With
 * `otherwise`, it is in the language that the content declares; if the content declares none, it is in the language of each contact, and in
 * `otherwise` for contacts whose language is unknown.
 */
export type FooterLanguage = { readonly version: string } | { readonly otherwise: string };
/**
 * Stands for the text of the link in a footer that is in the language of each contact. The mark is a noncharacter, which no content has.
 */
export const FOOTER_LINK_MARK = '\ufdd4';
const WHITE = 'ffffff';
/** Text colours from low to high contrast; one of the last two is legible on any background. */
const TEXT_COLOURS = ['595959', 'c8ccd1', '000000', WHITE];

/**
 * Returns the footer with postal address and preference link for a document with these regions. It sets its own background, so that it
 * stays legible when a mail client's dark mode changes the page background.
 */
export function footerFor(regions: readonly Region[], language: FooterLanguage | undefined): string {
  const { style, link } = partsFor(regions, language);
  return `<div style="padding:16px;${style}">((sender_address))<br>${link}</div>`;
}

/** Returns the preference link for the top of a mail that is so long that mail clients clip its end. The text part skips this link. */
export function topLinkFor(regions: readonly Region[], language: FooterLanguage | undefined): string {
  const { style, link } = partsFor(regions, language);
  return `<div ${TOP_LINK}="" style="padding:4px 16px;${style}">${link}</div>`;
}

/**
 * Returns the placeholder that takes the place of `FOOTER_LINK_MARK` in a document with these regions. Its value is the text of the link in
 * the language of each contact.
 */
export function footerLinkPlaceholder(regions: readonly Region[], language: FooterLanguage | undefined): Placeholder {
  return { name: FOOTER_LINK, fallback: PREFERENCES_LINK[languageOf(regions, language)], place: 'text' };
}

/**
 * Returns the text of the link to the preference page in a language, which is an ISO 639-1 code or a tag such as pt-BR; null if no text
 * exists in that language.
 */
export function preferencesLinkIn(language: string): string | null {
  const code = languageOfLocale(language, PAGE_LANGUAGES);
  return code && PREFERENCES_LINK[code];
}

/** Returns what the footer and the link at the top have in common: the style of the element, and the link to the preference page. */
function partsFor(regions: readonly Region[], language: FooterLanguage | undefined): { style: string; link: string } {
  const background = bodyBackground(regions);
  const color = TEXT_COLOURS.find((colour) => contrast(colour, background) >= LEGIBLE) ?? '000000';
  const isOfContact = language !== undefined && 'otherwise' in language;
  const text = isOfContact ? FOOTER_LINK_MARK : PREFERENCES_LINK[languageOf(regions, language)];
  return {
    style: `text-align:center;font:12px/18px Arial,Helvetica,sans-serif;background-color:#${background};color:#${color}`,
    link: `<a href="((${PREFERENCES}))" style="color:#${color}">${text}</a>`,
  };
}

/**
 * Returns the language of the footer. The language of the version is tried first, then the language that the document declares (HTML
 * 3.2.6.2), and then `otherwise`. English is used if a footer exists in none of these languages.
 */
function languageOf(regions: readonly Region[], language: FooterLanguage | undefined): PageLanguage {
  const declared = regions.find(({ tag, attribute }) => tag === 'html' && attribute === 'lang')?.value ?? '';
  const { version, otherwise } = { version: '', otherwise: '', ...language };
  return preferredLanguage([version, declared.trim(), otherwise], PAGE_LANGUAGES);
}

/** The body's background as six hexadecimal digits; white if it is not given as a hexadecimal colour. */
function bodyBackground(regions: readonly Region[]): string {
  const attributeOf = (attribute: string) =>
    regions.find((region) => region.tag === 'body' && region.attribute === attribute)?.value ?? '';
  const declared = attributeOf('style').matchAll(
    /(?:^|;)[ \t]{0,8}background(?:-color)?[ \t]{0,8}:[ \t]{0,8}(#[0-9a-f]{3,6})/gi,
  );
  const colours = [attributeOf('bgcolor').trim(), ...[...declared].map(([, colour = '']) => colour)];
  return colours.map(hexDigits).findLast((digits) => digits !== null) ?? WHITE;
}
