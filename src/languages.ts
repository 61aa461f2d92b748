/** The languages of pages, and the choice of a browser among them. */

export const LANGUAGE_CODES = ['en', 'de'] as const;
export type LanguageCode = (typeof LANGUAGE_CODES)[number];
/** Each language by its own name, for visitors who cannot read the current language. */
export const LANGUAGE_NAMES: Readonly<Record<LanguageCode, string>> = { en: 'English', de: 'Deutsch' };

/** The maximum length of the Accept-Language header that is read. */
const MAX_HEADER = 200;

/** The locales of an Accept-Language header (RFC 9110, 12.5.4) by descending weight; malformed ones are skipped. */
export function acceptedLocales(header = ''): string[] {
  return header
    .slice(0, MAX_HEADER)
    .split(',')
    .map((part) => {
      const [tag = '', weight = 'q=1'] = part.trim().split(/\s*;\s*/);
      return { tag, weight: Number(weight.replace('q=', '')) };
    })
    .filter(({ tag, weight }) => /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(tag) && weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ tag }) => tag);
}

/** The language of a locale such as de-AT; null if there are no pages in it. */
export function languageOfLocale(locale: string): LanguageCode | null {
  const language = locale.split('-')[0]?.toLowerCase();
  return LANGUAGE_CODES.find((code) => code === language) ?? null;
}

/** The first of these locales' languages for which there are pages; English if there is none. */
export function preferredLanguage(locales: readonly string[]): LanguageCode {
  for (const locale of locales) {
    const code = languageOfLocale(locale);
    if (code !== null) return code;
  }
  return 'en';
}
