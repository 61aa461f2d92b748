/** Translates the built-in templates, which are written in English. */
import { readFileSync } from 'node:fs';
import { languageOfLocale, PAGE_LANGUAGES, type PageLanguage } from '../languages.ts';
import { DATA } from './data-folder.ts';

/** The folder with a file for each language. A file has the texts of this language by the English texts. */
const TEXTS = new URL('templates/texts/', DATA);

/** The texts by language, read when they are first needed. */
const loaded = new Map<PageLanguage, ReadonlyMap<string, string>>();

/** Returns the texts of the built-in templates in a language other than English, by the English texts. */
export function templateTexts(language: PageLanguage): ReadonlyMap<string, string> {
  const texts =
    loaded.get(language) ??
    new Map<string, string>(Object.entries(JSON.parse(readFileSync(new URL(`${language}.json`, TEXTS), 'utf8'))));
  loaded.set(language, texts);
  return texts;
}

/** The code of a template: MJML in JSON form, and the HTML made from it. */
interface Codes {
  json_code: string;
  html_code: string;
}

/** Returns a built-in template in a language, an ISO 639-1 code; in English if there are no texts in that language. */
export function builtInTemplate<Template extends Codes>(template: Template, language: string): Template {
  const code = languageOfLocale(language, PAGE_LANGUAGES) ?? 'en';
  if (code === 'en') return template;
  const json = JSON.parse(template.json_code, (key, value: unknown) => {
    if (key === 'lang') return code;
    return key === 'content' && typeof value === 'string' ? translate(value, code) : value;
  });
  return { ...template, json_code: JSON.stringify(json), html_code: templateHtml(template.html_code, code) };
}

/** Returns the HTML of a built-in template in one of the languages. */
export function templateHtml(html: string, language: PageLanguage): string {
  if (language === 'en') return html;
  const texts = templateTexts(language);
  // The attribute aria-label repeats the title of the mail.
  return translate(html, language)
    .replace(/ aria-label="([^"]*)"/, (label, title: string) => label.replace(title, () => texts.get(title) ?? title))
    .replaceAll(' lang="en"', ` lang="${language}"`);
}

/** Replaces the texts between the tags of HTML by their translations. Texts without a translation stay. */
function translate(html: string, language: PageLanguage): string {
  const texts = templateTexts(language);
  return html.replace(/(^|>)([^<>]+)(?=<|$)/g, (_match, tagEnd: string, between: string) => {
    const text = between.trim();
    return tagEnd + between.replace(text, () => texts.get(text) ?? text);
  });
}
