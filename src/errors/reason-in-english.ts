/**
 * Turns a reason why a mail did not arrive into its stored form. The API gives reasons in English, in reports and in segments, and takes
 * the same text in rules. Replies of mail servers are the same in both forms.
 */
import { isSentenceCode, type Said, SENTENCES, Sentence, type SentenceCode, type Value } from './sentences.ts';
import { readStored, stored } from './stored.ts';

/** The reasons with values, apart from `returned`, which begins with another sentence. */
const WITH_VALUES = [
  'given_up',
  'complaint',
  'over_cap_day',
  'over_cap',
  'merged_too_large',
  'merged_subject_too_long',
] as const satisfies readonly SentenceCode[];
/** The placeholders that stand for numbers. */
const NUMBERS: ReadonlySet<string> = new Set(['mails', 'days', 'size', 'count']);

const codes = Object.keys(SENTENCES).filter(isSentenceCode);
const withoutValues = codes.filter((code) => !SENTENCES[code].includes('{'));
const byEnglish = new Map<string, SentenceCode>(withoutValues.map((code) => [SENTENCES[code], code]));
const causes = codes.filter((code) => code.startsWith('cause_'));
const patterns = WITH_VALUES.map((code) => ({ code, pattern: patternOf(SENTENCES[code]) }));

/** Returns the stored form of a reason. `text` is English as the API gives it, or the stored form already. */
export function storedReason(text: string): string {
  const said = readStored(text);
  return stored(typeof said === 'string' ? reasonInEnglish(said) : said);
}

/** Returns the reason of the service that is this text in English; a text of others is returned unchanged. */
function reasonInEnglish(text: string): Said {
  const plain = byEnglish.get(text);
  if (plain !== undefined) return new Sentence(plain, {});
  const cause = causes.find((code) => text.startsWith(`${SENTENCES[code]}: `));
  if (cause !== undefined)
    return new Sentence('returned', { cause: new Sentence(cause, {}), reply: text.slice(SENTENCES[cause].length + 2) });
  for (const { code, pattern } of patterns) {
    const values = pattern.exec(text)?.groups;
    if (values !== undefined) return new Sentence(code, Object.fromEntries(Object.entries(values).map(readValue)));
  }
  return text;
}

function readValue([name, text]: [string, string]): [string, Value] {
  return [name, NUMBERS.has(name) ? Number(text) : text];
}

/** Returns a pattern for a sentence with any values. It has at most one placeholder of any length, so it takes linear time. */
function patternOf(sentence: string): RegExp {
  const source = sentence
    .replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => (NUMBERS.has(name) ? `(?<${name}>\\d{1,9})` : `(?<${name}>.+)`));
  return new RegExp(`^${source}$`, 's');
}
