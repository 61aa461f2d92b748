/** Chooses the language of a page: the user's setting, else the first the browser asks for that the dashboard speaks. */
import { acceptedLocales, languageOfLocale, preferredLanguage } from '../../languages.ts';
import { Language } from './index.ts';

/**
 * Gives the language for a request. `zone` is the browser's time zone as the page's script tells it in a cookie; UTC if there is
 * none or this machine does not know it.
 */
export function chooseLanguage(
  setting: string | null,
  accepted: string | undefined,
  zone: string | undefined,
): Language {
  const locales = acceptedLocales(accepted);
  const code = languageOfLocale(setting ?? '') ?? preferredLanguage(locales);
  // A setting of de with a browser in de-AT still writes numbers as in Austria.
  const locale = locales.find((locale) => languageOfLocale(locale) === code) ?? (code === 'en' ? 'en-GB' : code);
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
