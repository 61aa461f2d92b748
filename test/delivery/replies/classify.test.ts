/** What a refusal of a relay means, and how its text is kept. */
import fc from 'fast-check';
import t from 'tap';
import { sanitizeText } from '../../../src/delivery/feedback/bounces/sanitize.ts';
import { classify, classifyFinal, readRefusal } from '../../../src/delivery/replies/classify.ts';

t.test('a refusal', (t) => {
  const judgements: [string, string][] = [
    ['550 5.1.1 <a@b.example>: User unknown', 'bounce'],
    ['550 5.1.2 Bad destination system', 'bounce'],
    ['553 5.1.3 Bad address syntax', 'bounce'],
    ['550 5.1.6 Has moved', 'bounce'],
    ['550 5.1.10 RecipientNotFound', 'bounce'],
    ['556 5.1.10 Null MX', 'bounce'],
    ['550 5.2.1 Mailbox disabled', 'bounce'],
    ['550 5.7.1 Rejected', 'failed'],
    ['550 5.7.1 User unknown', 'failed'],
    ['550 5.7.26 Not authenticated', 'failed'],
    ['552 5.2.2 Mailbox full', 'failed'],
    ['552 5.3.4 Too big', 'failed'],
    ['550 5.1.8 Sender domain not found', 'failed'],
    ['550 5.4.4 Host or domain name not found', 'bounce'],
    ['550 5.4.4 Unable to route', 'failed'],
    ['550 5.4.1 Recipient address rejected: Access denied.', 'bounce'],
    ['554 Recipient address rejected: Access denied', 'failed'],
    ['550 #5.1.0 Address rejected.', 'bounce'],
    // The server uses the code for everything; the text is specific.
    ['550 5.1.1 Blocked using spam list', 'failed'],
    ['550 5.1.1 <spam@spam.example>: User unknown', 'bounce'],
    ['550 5.2.1 This user receives mail at a rate that prevents more', 'failed'],
    ['550 5.1.1 Mailbox over quota', 'failed'],
    ['550 4.1.1 No such user', 'failed'],
    // Without an enhanced code, only well-known wordings count.
    ['550 No such user here', 'bounce'],
    ['550 Unknown user', 'bounce'],
    ['550 unknown or illegal alias: a@b.example', 'bounce'],
    ['550 <a@b.example>: Recipient address rejected: User unknown in relay recipient table', 'failed'],
    ['550 <a@b.example>: Recipient address rejected: User unknown in local recipient table', 'bounce'],
    ["554 delivery error: dd This user doesn't have a b.example account (a@b.example) [0]", 'bounce'],
    ['550 The account has been disabled', 'bounce'],
    ['550 Unrouteable address', 'bounce'],
    ['556 Takes no mail', 'bounce'],
    ['550', 'failed'],
    ['550 Requested action not taken: mailbox unavailable', 'failed'],
    ['550 Sender address does not exist', 'failed'],
    ['554 Message refused by policy, user unknown', 'failed'],
    ['552 Exceeded storage allocation', 'failed'],
    ['550 Helo command rejected: host unknown', 'failed'],
    ['554 Transaction failed', 'failed'],
    ['452 4.2.2 Mailbox full', 'deferred'],
    ['450 4.1.1 User unknown', 'deferred'],
    ['451 4.7.1 Greylisted', 'deferred'],
    ['421 Too busy', 'deferred'],
    ['Connection reset', 'deferred'],
  ];
  t.test(
    'suppresses the address only if it clearly says so; 5.7.x, a full mailbox and unclear refusals never do',
    async (t) => {
      for (const [reply, kind] of judgements) t.equal(classify(readRefusal(reply)).kind, kind, reply);
    },
  );

  t.test('has a reason for people, which never contains the reply', async (t) => {
    const reasons = new Set(judgements.map(([reply]) => String(classify(readRefusal(reply)).reason)));
    for (const reason of reasons) t.match(reason, /^The [^<>@\d]{10,120}\.$/);
    t.equal(classify(readRefusal('450 4.7.1 Greylisted')).reason.code, 'cause_policy_for_now');
  });

  t.test('with any text: 4xx is deferred, 5.7.x and 5.2.2 never bounce', async () => {
    const words = fc.constantFrom(
      'user',
      'unknown',
      'no',
      'such',
      'mailbox',
      'not',
      'found',
      'does',
      'exist',
      'spam',
      '<a@b>',
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(words).map((all) => all.join(' ')),
    );
    const details = fc.integer({ min: 0, max: 999 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 599 }), details, details, texts, (code, subject, detail, reply) => {
        const { kind } = classify({ code, enhanced: `5.${subject}.${detail}`, reply });
        const final = classifyFinal({ code, enhanced: null, reply }).kind;
        if (code >= 400 && code < 500) return kind === 'deferred' && final === 'failed';
        if (subject === 7 || (subject === 2 && detail === 2)) return kind === 'failed' && final !== 'deferred';
        return kind !== 'deferred' && final !== 'deferred';
      }),
    );
  });
  t.end();
});

t.test('text from other servers is stored as one bounded line without markup and control characters', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), (text) => {
      const inert = sanitizeText(text);
      return inert.length <= 500 && !/[<>\p{C}\p{Zl}\p{Zp}]/u.test(inert) && sanitizeText(inert) === inert;
    }),
  );
});
