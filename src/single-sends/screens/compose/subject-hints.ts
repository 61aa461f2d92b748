/** Gentle hints about a subject and a preview text: length, capitals, and words that filters know from spam. */

/** Phones show about this many characters of a subject. */
const PHONE_CHARACTERS = 40;
const LONG_CHARACTERS = 60;
/** A placeholder without a default is about as long as a first name. */
const NAME = 'Johanna';
const MOST_WORDS = 3;

/** A short list, English and German: words that filters weigh and that honest mails rarely need. */
const SPAM_WORDS = [
  '100%',
  'act now',
  'buy now',
  'cash',
  'click here',
  'congratulations',
  'free',
  'guarantee',
  'guaranteed',
  'last chance',
  'limited time',
  'no cost',
  'prize',
  'risk-free',
  'urgent',
  'winner',
  'dringend',
  'garantiert',
  'gewinn',
  'gewonnen',
  'gratis',
  'jetzt zugreifen',
  'klicken sie hier',
  'kostenlos',
  'letzte chance',
];

export type SubjectHint =
  | { hint: 'long'; limit: number }
  | { hint: 'capitals' | 'words'; words: string }
  | { hint: 'marks' | 'preheader' };

/** How many characters the subject has for somebody of whom a name is known. */
export function subjectLength(subject: string): number {
  return [...withNames(subject)].length;
}

/** The hints about these two, none where nothing is odd. */
export function subjectHints(subject: string, preheader: string): SubjectHint[] {
  const written = withNames(subject);
  const hints: SubjectHint[] = [];
  if (subjectLength(subject) > LONG_CHARACTERS) hints.push({ hint: 'long', limit: PHONE_CHARACTERS });
  const capitals = written.match(/\p{Lu}{4,}/gu) ?? [];
  if (capitals.length > 0) hints.push({ hint: 'capitals', words: listed(capitals) });
  const plain = ` ${`${written} ${withNames(preheader)}`.toLowerCase().replaceAll(/[^\p{L}\p{N}%-]+/gu, ' ')} `;
  const known = SPAM_WORDS.filter((word) => plain.includes(` ${word} `));
  if (known.length > 0) hints.push({ hint: 'words', words: listed(known) });
  if ((written.match(/!/g) ?? []).length > 1) hints.push({ hint: 'marks' });
  if (subject !== '' && preheader === '') hints.push({ hint: 'preheader' });
  return hints;
}

/** The text with each placeholder's default, or a name, in its place. */
function withNames(text: string): string {
  return text.replaceAll(/\(\([ \t]{0,8}\w{1,255}[ \t]{0,8}(?:\|([^()|]{0,1000}))?\)\)/g, (_, given) => given ?? NAME);
}

const listed = (words: readonly string[]) => [...new Set(words)].slice(0, MOST_WORDS).join(', ');
