/** The languages of the dashboard and of what recipients see, and the choice of a browser among them. */

/** The languages of the dashboard. */
export const LANGUAGE_CODES = ['en', 'de'] as const;
export type LanguageCode = (typeof LANGUAGE_CODES)[number];
/** The languages of what recipients see: public pages, forms with their mails, and the built-in footer of mails. */
export const PAGE_LANGUAGES = [...LANGUAGE_CODES, 'fr', 'es', 'it', 'nl', 'pl', 'pt'] as const;
export type PageLanguage = (typeof PAGE_LANGUAGES)[number];
/** Each language by its own name, for visitors who cannot read the current language. */
export const LANGUAGE_NAMES: Readonly<Record<PageLanguage, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  it: 'Italiano',
  nl: 'Nederlands',
  pl: 'Polski',
  pt: 'Português',
};

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

/** The language of a locale such as de-AT; null if it is none of `codes`. */
export function languageOfLocale<Code extends string>(locale: string, codes: readonly Code[]): Code | null {
  const language = locale.split('-')[0]?.toLowerCase();
  return codes.find((code) => code === language) ?? null;
}

/** The first of these locales' languages that is one of `codes`; English if there is none. */
export function preferredLanguage<Code extends string>(
  locales: readonly string[],
  codes: readonly Code[],
): Code | 'en' {
  for (const locale of locales) {
    const code = languageOfLocale(locale, codes);
    if (code !== null) return code;
  }
  return 'en';
}
