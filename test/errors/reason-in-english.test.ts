/** Reasons why a mail did not arrive, as the API gives and takes them. */
import t from 'tap';
import { storedReason } from '../../src/errors/reason-in-english.ts';
import { sentence } from '../../src/errors/sentences.ts';
import { english, stored } from '../../src/errors/stored.ts';

t.test('a reason in English becomes its stored form, and the stored form stays as it is', (t) => {
  const reasons = [
    sentence('unsubscribed_all'),
    sentence('cause_full'),
    sentence('returned', { cause: sentence('cause_policy'), reply: '554 5.7.1 "no": {really}' }),
    sentence('given_up', { reply: '451 4.3.0 first\nand second' }),
    sentence('given_up', { reply: ':a reply with a colon' }),
    sentence('complaint', { kind: 'abuse' }),
    sentence('over_cap_day', { mails: 3 }),
    sentence('over_cap', { mails: 12, days: 7 }),
    sentence('merged_too_large', { size: 2 }),
    sentence('merged_subject_too_long', { count: 998 }),
    '550 5.1.1 no such user',
    ':a reply with a colon',
    'Given up',
    '{cause}: {reply}',
  ];
  for (const reason of reasons) {
    const form = stored(reason);
    t.equal(storedReason(english(form)), form);
    t.equal(storedReason(form), form);
  }
  t.end();
});
