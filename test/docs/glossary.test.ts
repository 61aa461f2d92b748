/** The texts of the dashboard, of the pages for recipients and of the service's own mails have no word that the glossary discourages. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { SENTENCES } from '../../src/errors/sentences.ts';
import { USUAL_TEXTS } from '../../src/forms/texts.ts';
import { de as germanPages } from '../../src/http/pages/words/de.tsx';
import { en as englishPages } from '../../src/http/pages/words/en.tsx';
import * as germanDesigner from '../../src/templates/designs/screens/browser/parts/words.de.ts';
import * as englishDesigner from '../../src/templates/designs/screens/browser/parts/words.en.ts';
import { de } from '../../src/ui/words/de/index.ts';
import { sentenceFields, sentences } from '../../src/ui/words/de/sentences.ts';
import { en } from '../../src/ui/words/en/index.ts';
import { sentenceFields as englishFields, sentences as englishSentences } from '../../src/ui/words/en/sentences.ts';
import { EVENTS } from '../../src/webhooks/operations/event-types.ts';
import { ROOT } from '../support/documents.ts';

/** The texts of people who use Sendlark, by where they stand. */
const TEXTS = {
  en,
  de,
  'sentences in English': { ...SENTENCES, ...englishSentences },
  'sentences in German': sentences,
  'fields in English': englishFields,
  'fields in German': sentenceFields,
  'pages in English': englishPages,
  'pages in German': germanPages,
  forms: USUAL_TEXTS,
  'designer in English': { ...englishDesigner },
  'designer in German': { ...germanDesigner },
  events: EVENTS.map(({ en, de }) => ({ en, de })),
};

/** The words of the last column, a `*` for any ending. */
function discouraged(): string[] {
  const rows = readFileSync(join(ROOT, 'docs/contributing/glossary.md'), 'utf8').matchAll(/^\|(?! word |---)(.+)\|$/gm);
  return [...rows]
    .flatMap(([, row = '']) => (row.split('|').at(-1) ?? '').split(','))
    .flatMap((word) => word.trim() || []);
}

/** Every text within a value: also what functions return, and what stands in elements. */
function textsIn(value: unknown, path: string): [path: string, text: string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') return textsIn(value('x'), path);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries('props' in value ? { props: value.props } : value).flatMap(([name, one]) =>
    textsIn(one, `${path}.${name}`),
  );
}

/** Finds one of the words in a text, as a whole word, in small letters or large ones. */
function finder(words: readonly string[]): RegExp {
  const patterns = words.map((word) => word.replace(/\*$/, '') + (word.endsWith('*') ? '\\p{L}*' : ''));
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${patterns.join('|')})(?![\\p{L}\\p{N}_])`, 'iu');
}

t.test('no text has a word that the glossary discourages', async (t) => {
  const words = discouraged();
  t.ok(words.length > 50, 'the glossary has such words');
  const found = finder(words);
  const texts = textsIn(TEXTS, '');
  t.ok(texts.length > 3000, 'the texts are there');
  t.strictSame(
    texts.filter(([, text]) => found.test(text.replaceAll(/\{\w+\}|\(\([^)]*\)\)/g, ''))),
    [],
  );
});

t.test('the word of before is found in a text, with its endings and in large letters', async (t) => {
  const found = finder(discouraged());
  for (const text of [
    'Mailings',
    'No mailing yet',
    'Ein neues Mailing',
    'Two people',
    'Kontakttypen',
    'The relay',
    'Personen',
  ])
    t.match(text, found, text);
  for (const text of ['Campaigns', 'Kampagnen', 'personal data', 'personenbezogen']) t.notMatch(text, found, text);
});
