/** Hints about a subject and a preview text that are unusual, such as a subject in capitals. */
import { findSpamWords } from '../../../delivery/checks/spam-words.ts';

/** The number of characters of a subject that phones show. */
const PHONE_CHARACTERS = 40;
/** The number of characters above which a subject is long. */
const LONG_CHARACTERS = 60;
/** The text that stands for a merge tag without a default, which is about as long as a first name. */
const SAMPLE_NAME = 'Johanna';
/** The maximum number of words that a hint names. */
const MAX_WORDS = 3;

type SubjectHint =
  | { hint: 'long'; limit: number }
  | { hint: 'capitals' | 'words'; words: string }
  | { hint: 'marks' | 'preheader' };

/** Returns the number of characters of the subject, with a sample name for each merge tag without a default. */
export function subjectLength(subject: string): number {
  return [...withSampleValues(subject)].length;
}

/** Returns the hints about unusual subjects and preview texts. */
export function subjectHints(subject: string, preheader: string): SubjectHint[] {
  const written = withSampleValues(subject);
  const hints: SubjectHint[] = [];
  if (subjectLength(subject) > LONG_CHARACTERS) hints.push({ hint: 'long', limit: PHONE_CHARACTERS });
  const capitals = written.match(/\p{Lu}{4,}/gu) ?? [];
  if (capitals.length > 0) hints.push({ hint: 'capitals', words: listed(capitals) });
  const spamWords = findSpamWords(`${written} ${withSampleValues(preheader)}`).map(({ word }) => word);
  if (spamWords.length > 0) hints.push({ hint: 'words', words: listed(spamWords) });
  if ((written.match(/!/g) ?? []).length > 1) hints.push({ hint: 'marks' });
  if (subject !== '' && preheader === '') hints.push({ hint: 'preheader' });
  return hints;
}

/** Returns the text with each merge tag replaced by its default, or by a sample name. */
function withSampleValues(text: string): string {
  return text.replaceAll(
    /\(\([ \t]{0,8}\w{1,255}[ \t]{0,8}(?:\|([^()|]{0,1000}))?\)\)/g,
    (_, defaultValue) => defaultValue ?? SAMPLE_NAME,
  );
}

const listed = (words: readonly string[]) => [...new Set(words)].slice(0, MAX_WORDS).join(', ');
