/**
 * Finds sample text of the built-in templates that is still in a mail. The samples are read from the templates themselves. Texts shared by
 * several templates, texts with merge tags, lines that end with a comma, and the footer are not samples, because they are meant to stay.
 */
import { readFileSync } from 'node:fs';
import { listTemplates, templateFile } from '../../database/built-in-templates.ts';
import { templateHtml } from '../../database/template-texts.ts';
import { languageOfLocale, PAGE_LANGUAGES, type PageLanguage } from '../../languages.ts';
import { type MailContent, readHtml } from './mail-checks.ts';
import { hostOf } from './reading-checks.ts';

interface Samples {
  /** The sample texts, each with the index of the only template that contains the text. */
  texts: ReadonlyMap<string, number>;
  /** The hosts of the templates' links. */
  hosts: ReadonlySet<string>;
}

/** The minimum number of words of a sample that is not a code. */
const MIN_WORDS = 3;
/**
 * A text with this number of words is surely a sample. A shorter text, such as “Behind the scenes”, may be the owner's own, so it counts only
 * together with another text of the same template.
 */
const SURE_WORDS = 6;
/** A word of letters and digits, such as a discount code. */
const CODE = /^(?=.*\p{L})(?=.*\d)[\p{L}\d]{5,}$/u;
/** The text with which the footer begins. */
const FOOTER_BEGIN = '((sender_address))';

/** The samples by language, read when they are first needed. */
const samplesByLanguage = new Map<PageLanguage, Samples>();

/**
 * Returns the texts and link URLs of a mail that are samples of a template in the language that the mail declares, each once.
 */
export function findSampleText({
  blocks,
  links,
  language,
}: Pick<MailContent, 'blocks' | 'links' | 'language'>): string[] {
  const code = languageOfLocale(language, PAGE_LANGUAGES) ?? 'en';
  const samples = samplesByLanguage.get(code) ?? readSamples(code);
  samplesByLanguage.set(code, samples);
  const { texts, hosts } = samples;
  const candidates = [...new Set(blocks)].filter((block) => texts.has(block));
  const isSample = (text: string) =>
    isSure(text) || candidates.some((other) => other !== text && texts.get(other) === texts.get(text));
  const sampleUrls = links.map(({ url }) => url).filter((url) => hosts.has(hostOf(url)));
  return [...candidates.filter(isSample), ...new Set(sampleUrls)];
}

function readSamples(language: PageLanguage): Samples {
  const templates = listTemplates().map((template) =>
    readHtml(templateHtml(readFileSync(templateFile(template, 'html'), 'utf8'), language)),
  );
  const templatesByText = new Map<string, Set<number>>();
  for (const [template, { blocks }] of templates.entries()) {
    const footer = blocks.indexOf(FOOTER_BEGIN);
    for (const text of blocks.slice(0, footer < 0 ? undefined : footer))
      templatesByText.set(text, (templatesByText.get(text) ?? new Set()).add(template));
  }
  const texts = [...templatesByText].flatMap(([text, [template = 0, ...others]]) =>
    others.length === 0 && isDistinctive(text) ? [[text, template] as const] : [],
  );
  const hosts = templates.flatMap(({ links }) => links.map(({ url }) => hostOf(url))).filter(Boolean);
  return { texts: new Map(texts), hosts: new Set(hosts) };
}

function isDistinctive(text: string): boolean {
  return !/\(\(|,$/.test(text) && (countWords(text) >= MIN_WORDS || CODE.test(text));
}

const isSure = (text: string) => countWords(text) >= SURE_WORDS || CODE.test(text);

const countWords = (text: string) => text.split(' ').length;
