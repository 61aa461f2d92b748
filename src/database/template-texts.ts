/** The built-in templates in other languages than English, which they are written in. */
import { readFileSync } from 'node:fs';
import { languageOfLocale, PAGE_LANGUAGES, type PageLanguage } from '../languages.ts';
import { DATA } from './data-folder.ts';

/** The folder with a file of texts for each language, by the English text. */
const TEXTS = new URL('templates/texts/', DATA);

/** The texts by language, read when they are first needed. */
const known = new Map<PageLanguage, ReadonlyMap<string, string>>();

/** Returns the texts of the built-in templates in a language other than English, by the English ones. */
export function templateTexts(language: PageLanguage): ReadonlyMap<string, string> {
  const texts =
    known.get(language) ??
    new Map<string, string>(Object.entries(JSON.parse(readFileSync(new URL(`${language}.json`, TEXTS), 'utf8'))));
  known.set(language, texts);
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
    if (typeof value !== 'string') return value;
    return key === 'lang' ? code : key === 'content' ? translated(value, code) : value;
  });
  return { ...template, json_code: JSON.stringify(json), html_code: templateHtml(template.html_code, code) };
}

/** Returns the HTML of a built-in template in one of the languages. */
export function templateHtml(html: string, language: PageLanguage): string {
  if (language === 'en') return html;
  const texts = templateTexts(language);
  // The title is in this attribute, too.
  return translated(html, language)
    .replace(/ aria-label="([^"]*)"/, (whole, title: string) => whole.replace(title, () => texts.get(title) ?? title))
    .replaceAll(' lang="en"', ` lang="${language}"`);
}

function translated(html: string, language: PageLanguage): string {
  const texts = templateTexts(language);
  return html.replace(/(^|>)([^<>]+)(?=<|$)/g, (_whole, tag: string, between: string) => {
    const text = between.trim();
    return tag + between.replace(text, () => texts.get(text) ?? text);
  });
}
