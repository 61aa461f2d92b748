/** Which replies of relays say the same thing. */
import fc from 'fast-check';
import t from 'tap';
import { replyKind } from '../../../src/database/functions/reply-kind.ts';

t.test('codes and words of a reply stay; addresses, ids, hosts with digits and amounts go', async (t) => {
  const kinds: [reply: string, kind: string][] = [
    [
      '550 5.1.1 <reader12@example.org>: Recipient address rejected: User unknown in virtual mailbox table',
      '550 5.1.1 <address>: Recipient address rejected: User unknown in virtual mailbox table',
    ],
    [
      '554 5.7.1 Service unavailable; Client host [192.0.2.17] blocked; https://list.example/query/ip/192.0.2.17',
      '554 5.7.1 Service unavailable; Client host […] blocked; https://list.example/query/ip/…',
    ],
    [
      '550-5.1.1 No such account.\n550-5.1.1 See https://help.example/?p=NoSuchUser a640c23a62f3a-a6f0b1c2si12.123 - gsmtp',
      '550-5.1.1 No such account. 550-5.1.1 See https://help.example/?p=NoSuchUser … - gsmtp',
    ],
    ['450 4.2.0 Greylisted for 287 seconds', '450 4.2.0 Greylisted for … seconds'],
    ['Given up after 4 days: 451 4.3.0 queue file 3F2A9C01D2', 'Given up after 4 days: 451 4.3.0 queue file …'],
    ['550 Blocked by rule S3150 (2001:db8::1)', '550 Blocked by rule S3150 (…)'],
    ['unsubscribed from all mail', 'unsubscribed from all mail'],
  ];
  for (const [reply, kind] of kinds) t.equal(replyKind(reply), kind);
});

t.test('a kind is one line of at most 200 characters, whatever the relay says', async () => {
  const word = fc.oneof(fc.string(), fc.emailAddress(), fc.ipV4(), fc.webUrl());
  fc.assert(
    fc.property(
      fc.array(word).map((words) => words.join(' ')),
      (reply) => {
        const kind = replyKind(reply);
        return kind.length <= 200 && !kind.includes('\n');
      },
    ),
  );
});
