/** The reasons in rules about mails that did not arrive: stored by their codes, shown in the user's language. */
import { type PlainCode, sentence } from '../../../errors/sentences.ts';
import { readStored, stored } from '../../../errors/stored.ts';
import type { Language } from '../../../ui/words/index.ts';

/**
 * The service's own reasons to skip a contact. Replies of mail servers are not among them, because a rule about such a reply is made from a
 * report.
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

/** Returns the options for the choice of a reason: the service's own reasons. If the chosen reason is not one of them, it comes first. */
export function reasonOptions(language: Language, chosen: string): { value: string; label: string }[] {
  const own = OWN_REASONS.map((code) => stored(sentence(code)));
  const values = own.includes(chosen) ? own : [chosen, ...own];
  return values.map((value) => ({ value, label: language.sentence(readStored(value)) }));
}
