/**
 * The rules for new passwords: at least 12 characters, and no password that guessing programs try first. There is no list of leaked
 * passwords. Instead the rules remove common words, keyboard runs, years and repetitions from a password, and enough characters must
 * remain.
 */

const MIN_CHARACTERS = 12;
const MAX_CHARACTERS = 256;
/** A password with fewer different characters is a pattern, such as abababababab. */
const MIN_DIFFERENT = 5;
/** The minimum weight of the characters that remain. A letter weighs 1, a digit or sign ½. */
const MIN_WEIGHT = 6;
/** The minimum length of a run: characters that are neighbours in one of the ROWS. */
const MIN_RUN = 4;

/** The alphabet, the digits, and characters in the order in which they stand on keyboards. */
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

/** The letters that digits and signs stand for in passwords such as p4$$word. */
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
 * Returns why a new password is not accepted; null if it is accepted. A password must not consist of the texts in `person`, such as the
 * user's name and e-mail address.
 */
export function passwordFault(password: string, person: readonly string[]): PasswordFault | null {
  const text = password.normalize('NFKC').toLowerCase();
  const { length } = [...text];
  if (length < MIN_CHARACTERS) return 'short';
  if (length > MAX_CHARACTERS) return 'long';
  if (new Set(text).size < MIN_DIFFERENT || remainingWeight(text, WORDS) < MIN_WEIGHT) return 'common';
  const own = person.flatMap((words) => words.toLowerCase().split(/[^\p{L}\d]+/u)).filter((word) => word.length > 2);
  return remainingWeight(text, [...WORDS, ...own]) < MIN_WEIGHT ? 'personal' : null;
}

/**
 * Returns the weight of what remains of a text without `words`, runs, years and repetitions. The text is read both as typed and with
 * letters in place of their lookalikes; the smaller weight counts.
 */
function remainingWeight(text: string, words: readonly string[]): number {
  const repeated = /^(.+?)\1+$/su.exec(text)?.[1] ?? text;
  const spelled = repeated.replace(/[013457@$!]/g, (character) => LOOKALIKES[character] ?? character);
  return Math.min(...[repeated, spelled].map((reading) => weight(withoutWords(withoutRuns(reading), words))));
}

/** Returns the weight of a text; years weigh nothing. */
function weight(text: string): number {
  const withoutYears = text.replace(/(19|20)\d\d/g, '');
  const letters = withoutYears.match(/\p{L}/gu)?.length ?? 0;
  return letters + ([...withoutYears].length - letters) / 2;
}

function withoutWords(text: string, words: readonly string[]): string {
  let remaining = text;
  for (const word of [...words].sort((a, b) => b.length - a.length)) remaining = remaining.replaceAll(word, ' ');
  return remaining.replaceAll(' ', '');
}

function withoutRuns(text: string): string {
  let remaining = '';
  for (let at = 0; at < text.length; ) {
    const length = runLength(text, at);
    if (length < MIN_RUN) remaining += text[at];
    at += length < MIN_RUN ? 1 : length;
  }
  return remaining;
}

/** Returns how many characters from `at` on are neighbours in one of the ROWS, in either direction. */
function runLength(text: string, at: number): number {
  let length = 1;
  while (at + length < text.length && BOTH_WAYS.some((row) => row.includes(text.slice(at, at + length + 1)))) length++;
  return length;
}
