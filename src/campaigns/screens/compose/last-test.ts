/** The sentence about the last test of a mail. */
import { recordTime } from '../../../ui/record-time.ts';
import type { Language } from '../../../ui/words/index.ts';
import type { LastTest } from '../../test-mail.ts';

/**
 * Returns when and to whom the last test was sent, and whether the campaign or the mail of an automation was saved after it; or that there was
 * no test.
 */
export function lastTestText(language: Language, test: LastTest | null, mail: { updated_at: string }): string {
  const sent = recordTime(test?.sent_at ?? null);
  if (test === null || sent === null) return language.say('compose.test.none');
  const text = language.say('compose.test.last', {
    time: language.dateTime(sent),
    addresses: test.addresses.join(', ') || '–',
  });
  return mail.updated_at > test.sent_at ? `${text} ${language.say('compose.test.older')}` : text;
}
