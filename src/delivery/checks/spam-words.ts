/**
 * English and German words that lists of “spam words” warn of, and that honest mails rarely need. A weight says how often such lists have
 * the word, so it is folklore. Gmail, Yahoo and Microsoft publish no weights; they judge by complaints, authentication and reputation.
 */

/** The words, each with its weight from 1 to 3. */
const WEIGHTS: ReadonlyMap<string, number> = new Map([
  ['100%', 2],
  ['act now', 3],
  ['buy now', 2],
  ['cash', 2],
  ['click here', 2],
  ['congratulations', 2],
  ['free', 1],
  ['guarantee', 1],
  ['guaranteed', 2],
  ['last chance', 1],
  ['limited time', 2],
  ['no cost', 2],
  ['prize', 2],
  ['risk-free', 3],
  ['urgent', 2],
  ['winner', 3],
  ['dringend', 2],
  ['garantiert', 2],
  ['gewinn', 2],
  ['gewonnen', 3],
  ['gratis', 1],
  ['jetzt zugreifen', 3],
  ['klicken sie hier', 2],
  ['kostenlos', 1],
  ['letzte chance', 1],
]);

/** Returns the spam words that a text contains as whole words, each once, with their weights. */
export function findSpamWords(text: string): { word: string; weight: number }[] {
  const plain = ` ${text.toLowerCase().replaceAll(/[^\p{L}\p{N}%-]+/gu, ' ')} `;
  return [...WEIGHTS].flatMap(([word, weight]) => (plain.includes(` ${word} `) ? [{ word, weight }] : []));
}
