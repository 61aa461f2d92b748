/** The reasons in rules about mails that did not arrive: stored as the report's API gives them, shown in the user's language. */
import { type PlainCode, sentence, sentenceInEnglish } from '../../../errors/sentences.ts';
import { english, readable, readStored } from '../../../errors/stored.ts';
import type { Language } from '../../../ui/words/index.ts';

/**
 * The service's own reasons to skip a contact. Replies of mail servers are not among them: the user comes to a rule about such a reply
 * from a report.
 */
const OWN_REASONS: readonly PlainCode[] = [
  'unsubscribed_all',
  'unsubscribed_group',
  'excluded',
  'suppressed_bounce',
  'suppressed_complaint',
  'inactive',
  'contact_deleted',
];

/** Returns a reason, stored or in English, in the user's language. A reply of a mail server stays as it is. */
export function reasonInWords(language: Language, reason: string): string {
  return language.sentence(sentenceInEnglish(english(reason)) ?? readStored(reason));
}

/**
 * Returns the options for the choice of a reason: the service's own reasons. If the chosen reason is not one of them, it comes
 * first.
 */
export function reasonOptions(language: Language, reason: string): { value: string; label: string }[] {
  const chosen = readable(reason);
  const own = OWN_REASONS.map((code) => String(sentence(code)));
  const values = own.includes(chosen) ? own : [chosen, ...own];
  return values.map((value) => ({ value, label: reasonInWords(language, value) }));
}
