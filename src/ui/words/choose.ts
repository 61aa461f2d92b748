/** Chooses the language of a page. */
import { acceptedLocales, LANGUAGE_CODES, languageOfLocale, preferredLanguage } from '../../languages.ts';
import { isTimeZone } from '../../time/zones.ts';
import { Language } from './index.ts';

/**
 * Returns the language for a request: that of the user's setting, otherwise the first language that the browser accepts and the dashboard
 * has. `zone` is the browser's time zone; UTC is used if it is undefined or this machine does not know it.
 */
export function chooseLanguage(
  setting: string | null,
  accepted: string | undefined,
  zone: string | undefined,
): Language {
  const locales = acceptedLocales(accepted);
  const code = languageOfLocale(setting ?? '', LANGUAGE_CODES) ?? preferredLanguage(locales, LANGUAGE_CODES);
  // The locale is that of the browser if it has the same language, so that numbers are written as in Austria for de-AT.
  const locale =
    locales.find((locale) => languageOfLocale(locale, LANGUAGE_CODES) === code) ?? (code === 'en' ? 'en-GB' : code);
  return new Language(code, locale, zone !== undefined && isTimeZone(zone) ? zone : 'UTC');
}
