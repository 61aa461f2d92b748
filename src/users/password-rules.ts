/**
 * Which passwords are accepted: at least 12 characters, and none that guessing programs try first. The rules and words are our
 * own, not a list of leaked passwords: after removing common words, keyboard runs, years and repetitions, enough must be left.
 */

const MIN_CHARACTERS = 12;
const MAX_CHARACTERS = 256;
/** A password with fewer different characters is a pattern, such as abababababab. */
const MIN_DIFFERENT = 5;
/** How much must be left. A letter counts one, a digit or sign half. */
const MIN_LEFT = 6;
/** The length from which neighbours in a keyboard row are a run. */
const MIN_RUN = 4;

const ROWS = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
  'yxcvbnm',
  'azertyuiop',
  '1q2w3e4r5t6y7u8i9o0p',
  '1qaz2wsx3edc4rfv5tgb6yhn',
];
const BOTH_WAYS = ROWS.flatMap((row) => [row, [...row].reverse().join('')]);

/** Common words in English and German. */
const WORDS = `
  password passwort kennwort passphrase secret geheim admin administrator root user login logon welcome willkommen letmein iloveyou
  ichliebedich monkey dragon master sunshine princess football baseball superman batman trustno starwars shadow michael jennifer
  jordan ashley whatever freedom hello hallo summer sommer winter spring autumn herbst january february march april june july august
  september october november december monday friday test testing changeme default temp internet computer server database access
  money love angel cheese cookie flower charlie pokemon sendlark newsletter email mail company office business my the mein
`
  .trim()
  .split(/\s+/);

const LOOKALIKES: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

export type PasswordFault = 'short' | 'long' | 'common' | 'personal';

/**
 * Returns why a new password is not accepted, or null. `person` has texts that it must not consist of, such as the name and the address.
 */
export function passwordFault(password: string, person: readonly string[]): PasswordFault | null {
  const text = password.normalize('NFKC').toLowerCase();
  const { length } = [...text];
  if (length < MIN_CHARACTERS) return 'short';
  if (length > MAX_CHARACTERS) return 'long';
  if (new Set(text).size < MIN_DIFFERENT || left(text, WORDS) < MIN_LEFT) return 'common';
  const own = person.flatMap((words) => words.toLowerCase().split(/[^\p{L}\d]+/u)).filter((word) => word.length > 2);
  return left(text, [...WORDS, ...own]) < MIN_LEFT ? 'personal' : null;
}

/**
 * Returns how much of a text is left without `words`, runs, years and repetitions, read literally or with digits that stand for letters.
 */
function left(text: string, words: readonly string[]): number {
  const unit = /^(.+?)\1+$/su.exec(text)?.[1] ?? text;
  const spelled = unit.replace(/[013457@$!]/g, (character) => LOOKALIKES[character] ?? character);
  return Math.min(...[unit, spelled].map((one) => weight(withoutWords(withoutRuns(one), words))));
}

function weight(text: string): number {
  const own = text.replace(/(19|20)\d\d/g, '');
  const letters = own.match(/\p{L}/gu)?.length ?? 0;
  return letters + ([...own].length - letters) / 2;
}

function withoutWords(text: string, words: readonly string[]): string {
  const longestFirst = [...words].sort((a, b) => b.length - a.length);
  return longestFirst.reduce((rest, word) => rest.replaceAll(word, ' '), text).replaceAll(' ', '');
}

function withoutRuns(text: string): string {
  let rest = '';
  for (let at = 0; at < text.length; ) {
    const length = runLength(text, at);
    if (length < MIN_RUN) rest += text[at];
    at += length < MIN_RUN ? 1 : length;
  }
  return rest;
}

/** Returns how many characters from `at` on are neighbours in a row, in either direction. */
function runLength(text: string, at: number): number {
  let length = 1;
  while (at + length < text.length && BOTH_WAYS.some((row) => row.includes(text.slice(at, at + length + 1)))) length++;
  return length;
}
