/** Chooses the language of a page: the user's setting, else the first the browser asks for that the dashboard speaks. */
import { LANGUAGES, Language, type LanguageCode } from './index.ts';

/** The longest Accept-Language header that is read. */
const MAX_HEADER = 200;

/**
 * Gives the language for a request. `zone` is the browser's time zone as the page's script tells it in a cookie; UTC where there is
 * none or it is not known here.
 */
export function chooseLanguage(
  setting: string | null,
  accepted: string | undefined,
  zone: string | undefined,
): Language {
  const locales = readAccepted(accepted ?? '');
  const known = locales.find((locale) => codeOf(locale) !== null);
  const code = codeOf(setting ?? '') ?? codeOf(known ?? '') ?? 'en';
  // A setting of de with a browser in de-AT still writes numbers as in Austria.
  const locale = locales.find((locale) => codeOf(locale) === code) ?? (code === 'en' ? 'en-GB' : code);
  return new Language(code, locale, isZone(zone) ? zone : 'UTC');
}

function codeOf(locale: string): LanguageCode | null {
  const code = locale.split('-')[0]?.toLowerCase() ?? '';
  return Object.keys(LANGUAGES).find((known): known is LanguageCode => known === code) ?? null;
}

/** The locales of an Accept-Language header (RFC 9110 12.5.4) by descending weight; those that are malformed are left out. */
function readAccepted(header: string): string[] {
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

function isZone(zone: string | undefined): zone is string {
  if (zone === undefined || !/^[\w+/-]{1,64}$/.test(zone)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
