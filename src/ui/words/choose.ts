/** Chooses the language of a page: the user's setting, otherwise the first language that the browser asks for and the dashboard has. */
import { acceptedLocales, LANGUAGE_CODES, languageOfLocale, preferredLanguage } from '../../languages.ts';
import { Language } from './index.ts';

/**
 * Returns the language for a request. `zone` is the browser's time zone, which the page's script puts into a cookie; UTC if
 * there is none or this machine does not know it.
 */
export function chooseLanguage(
  setting: string | null,
  accepted: string | undefined,
  zone: string | undefined,
): Language {
  const locales = acceptedLocales(accepted);
  const code = languageOfLocale(setting ?? '', LANGUAGE_CODES) ?? preferredLanguage(locales, LANGUAGE_CODES);
  // With the setting de and a browser in de-AT, numbers are still written as in Austria.
  const locale =
    locales.find((locale) => languageOfLocale(locale, LANGUAGE_CODES) === code) ?? (code === 'en' ? 'en-GB' : code);
  return new Language(code, locale, isZone(zone) ? zone : 'UTC');
}

function isZone(zone: string | undefined): zone is string {
  if (zone === undefined || !/^[\w+/-]{1,64}$/.test(zone)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
