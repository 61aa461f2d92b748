/** Envelopes that are pipelined after the end of another message. */
import t from 'tap';
import { ANN, answer, BEN, ENVELOPE_OF_BEN, startPipelined, untilEnd } from './replies.ts';

t.test('a pipelined envelope is written after the end of data, and its transaction follows', async (t) => {
  const transactions = startPipelined();
  t.equal(untilEnd(transactions, BEN), ENVELOPE_OF_BEN);
  t.equal(transactions.pipelined, BEN);
  t.strictSame(answer(transactions, '250 kept', '250 ok', '250 ok', '354 go'), [
    'ann@example.com: accepted body 250, then pipelined',
    'wait for rcpt',
    'wait for data',
    'writeMessage',
  ]);
  t.strictSame([transactions.mail, transactions.pipelined], [BEN, null]);
});

t.test('a pipelined recipient can be refused like any other, also after a refused message', async (t) => {
  const transactions = startPipelined();
  untilEnd(transactions, BEN);
  t.strictSame(answer(transactions, '554 spam', '250 ok', '550 nobody', '503 no recipients'), [
    'ann@example.com: refused body 554, then pipelined',
    'wait for rcpt',
    'wait for data',
    'ben@example.com: refused rcpt 550, then idle',
  ]);
});

t.test('a pipelined envelope that is taken back closes the connection after the mail before it', async (t) => {
  const transactions = startPipelined();
  untilEnd(transactions, BEN);
  t.equal(transactions.cancelPipelined(), BEN);
  t.equal(transactions.cancelPipelined(), null);
  t.strictSame(answer(transactions, '250 kept'), ['ann@example.com: accepted body 250, then close']);
});

t.test('a pipelined mail is sent again when the connection breaks before its turn', async (t) => {
  const transactions = startPipelined();
  untilEnd(transactions, BEN);
  t.match(transactions.lost('reset by peer'), {
    mail: ANN,
    outcome: { kind: 'deferred', stage: 'body', code: 0, reply: 'relay.example:25: reset by peer' },
    canRepeat: false,
    pipelined: BEN,
  });
  t.equal(transactions.mail, null);
});

t.test('a relay that refuses or drops a pipelined MAIL is asked again without pipelining', async (t) => {
  const refused = startPipelined();
  untilEnd(refused, BEN);
  t.strictSame(answer(refused, '250 kept', '554 5.5.0 synchronization error').slice(1), [
    'close; ben@example.com: held mail 554, send it again, pipeline no more',
  ]);
  const dropped = startPipelined();
  untilEnd(dropped, BEN);
  answer(dropped, '250 kept');
  t.match(dropped.lost('timeout'), { mail: BEN, canRepeat: true, isPipeliningRejected: true });
});
