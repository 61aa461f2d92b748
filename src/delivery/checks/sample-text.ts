/**
 * Finds sample text of the built-in templates that is still in a mail. The samples are read from the templates themselves. Texts shared by
 * several templates, texts with merge tags, lines that end with a comma, and the footer are not samples, because they are meant to stay.
 */
import { readFileSync } from 'node:fs';
import { listTemplates, templateFile } from '../../database/reference-data.ts';
import { templateHtml } from '../../database/template-texts.ts';
import { languageOfLocale, PAGE_LANGUAGES, type PageLanguage } from '../../languages.ts';
import { type MailContent, readHtml } from './mail-checks.ts';
import { hostOf } from './reading-checks.ts';

interface Samples {
  /** The templates that contain each text. */
  texts: ReadonlyMap<string, number>;
  /** The hosts of the templates' links. */
  hosts: ReadonlySet<string>;
}

const MIN_WORDS = 3;
/** A shorter text, such as “Behind the scenes”, may be the owner's: it counts only together with another text of the same template. */
const SURE_WORDS = 6;
/** A word of letters and digits, such as a discount code. */
const CODE = /^(?=.*\p{L})(?=.*\d)[\p{L}\d]{5,}$/u;
/** The beginning of the footer. */
const ADDRESS = '((sender_address))';

/** The samples by language, read when they are first needed. */
const samplesIn = new Map<PageLanguage, Samples>();

/**
 * The texts and link URLs in a mail that are still unchanged from a template in the language that the mail declares,
 * each once.
 */
export function findSampleText({
  blocks,
  links,
  language,
}: Pick<MailContent, 'blocks' | 'links' | 'language'>): string[] {
  const code = languageOfLocale(language, PAGE_LANGUAGES) ?? 'en';
  const samples = samplesIn.get(code) ?? readSamples(code);
  samplesIn.set(code, samples);
  const { texts, hosts } = samples;
  const left = [...new Set(blocks)].filter((block) => texts.has(block));
  const isOurs = (text: string) =>
    isSure(text) || left.some((other) => other !== text && texts.get(other) === texts.get(text));
  const leading = links.map(({ url }) => url).filter((url) => hosts.has(hostOf(url)));
  return [...left.filter(isOurs), ...new Set(leading)];
}

function readSamples(language: PageLanguage): Samples {
  const templates = listTemplates().map((template) =>
    readHtml(templateHtml(readFileSync(templateFile(template, 'html'), 'utf8'), language)),
  );
  const owners = new Map<string, Set<number>>();
  for (const [template, { blocks }] of templates.entries()) {
    const footer = blocks.indexOf(ADDRESS);
    for (const text of blocks.slice(0, footer < 0 ? undefined : footer))
      owners.set(text, (owners.get(text) ?? new Set()).add(template));
  }
  const own = [...owners].flatMap(([text, [template = 0, ...others]]) =>
    others.length === 0 && isTelling(text) ? [[text, template] as const] : [],
  );
  const hosts = templates.flatMap(({ links }) => links.map(({ url }) => hostOf(url))).filter(Boolean);
  return { texts: new Map(own), hosts: new Set(hosts) };
}

function isTelling(text: string): boolean {
  return !/\(\(|,$/.test(text) && (words(text) >= MIN_WORDS || CODE.test(text));
}

const isSure = (text: string) => words(text) >= SURE_WORDS || CODE.test(text);

const words = (text: string) => text.split(' ').length;
