/** The transactions of an SMTP session, reply by reply, without a socket. */
import t from 'tap';
import { Transactions } from '../../../../../src/delivery/transport/smtp/session/transactions.ts';
import { ANN, answer, BEN, ENVELOPE_OF_BEN, type Mail, shown, startPipelined, untilEnd } from './replies.ts';

const ENVELOPE_OF_ANN = 'MAIL FROM:<news@example.com>|RCPT TO:<ann@example.com>|DATA|';

function startInTurn(): Transactions<Mail> {
  return new Transactions<Mail>({ pipelining: false, size: null }, 'relay.example:25');
}

t.test('with PIPELINING the envelope is one group, and the message is written after the third reply', async (t) => {
  const transactions = startPipelined();
  t.equal(shown(transactions.begin(ANN)), ENVELOPE_OF_ANN);
  t.strictSame(answer(transactions, '250 ok', '250 ok', '354 go'), ['wait for rcpt', 'wait for data', 'writeMessage']);
  t.equal(transactions.endOfDataWritten(), '');
  t.equal(transactions.endOfDataFlushed(), true);
  t.strictSame(answer(transactions, '250 kept'), ['ann@example.com: accepted body 250, then idle']);
  t.strictSame([transactions.state, transactions.mail, transactions.completed], ['idle', null, 1]);
});

t.test('without PIPELINING each command waits for the reply to the one before', async (t) => {
  const transactions = startInTurn();
  t.equal(shown(transactions.begin(ANN)), 'MAIL FROM:<news@example.com>|');
  t.strictSame(answer(transactions, '250 ok', '250 ok', '354 go'), [
    'write RCPT TO:<ann@example.com>|',
    'write DATA|',
    'writeMessage',
  ]);
});

t.test(
  'a refused recipient has its outcome after the reply to DATA, and RSET comes before the next MAIL',
  async (t) => {
    const transactions = startPipelined();
    transactions.begin(ANN);
    t.strictSame(answer(transactions, '250 ok', '550 5.1.1 nobody', '503 no recipients'), [
      'wait for rcpt',
      'wait for data',
      'ann@example.com: refused rcpt 550, then idle',
    ]);
    t.equal(shown(transactions.begin(BEN)), `RSET|${ENVELOPE_OF_BEN}`);
    t.strictSame(answer(transactions, '250 reset', '250 ok', '250 ok', '354 go'), [
      'wait for mail',
      'wait for rcpt',
      'wait for data',
      'writeMessage',
    ]);
  },
);

t.test(
  'without PIPELINING a refusal ends the transaction at once, and RSET goes before the session is idle',
  async (t) => {
    const transactions = startInTurn();
    transactions.begin(ANN);
    t.strictSame(answer(transactions, '250 ok', '450 4.2.0 later', '250 reset'), [
      'write RCPT TO:<ann@example.com>|',
      'ann@example.com: deferred rcpt 450, then reset',
      'idle',
    ]);
    t.equal(shown(transactions.begin(BEN)), 'MAIL FROM:<news@example.com>|');
  },
);

t.test('a refused sender needs no RSET', async (t) => {
  const pipelined = startPipelined();
  pipelined.begin(ANN);
  t.strictSame(answer(pipelined, '550 5.7.1 not you', '503 MAIL first', '503 RCPT first').slice(2), [
    'ann@example.com: held mail 550, then idle',
  ]);
  t.equal(shown(pipelined.begin(BEN)), ENVELOPE_OF_BEN);
  const inTurn = startInTurn();
  inTurn.begin(ANN);
  t.strictSame(answer(inTurn, '550 5.7.1 not you'), ['ann@example.com: held mail 550, then idle']);
});

t.test('RSET that is refused costs the connection; the mail that waits for it can be sent again', async (t) => {
  const transactions = startPipelined();
  transactions.begin(ANN);
  answer(transactions, '250 ok', '550 no', '503 no');
  transactions.begin(BEN);
  t.strictSame(answer(transactions, '500 what?'), ['close: RSET answered with 500 what?']);
  const lost = transactions.lost('the connection was closed');
  t.match(lost, { mail: BEN, canRepeat: true, isSessionEnd: false, outcome: { kind: 'deferred', stage: 'mail' } });
});

t.test('354 without an accepted recipient: the end of data alone, and the refusal is the outcome', async (t) => {
  const transactions = startPipelined();
  transactions.begin(ANN);
  t.strictSame(answer(transactions, '250 ok', '550 nobody', '354 go', '554 no valid recipients'), [
    'wait for rcpt',
    'wait for data',
    'write .|',
    'ann@example.com: refused rcpt 550, then idle',
  ]);
  t.equal(shown(transactions.begin(BEN)), ENVELOPE_OF_BEN, 'the relay has ended the transaction itself');
});

t.test(
  '354 with a recipient but without a sender: the connection is closed, since an empty message would be mailed',
  async (t) => {
    const transactions = startPipelined();
    transactions.begin(ANN);
    t.strictSame(answer(transactions, '550 5.7.1 not you', '250 ok', '354 go').slice(2), [
      'close; ann@example.com: held mail 550',
    ]);
  },
);

t.test('a message that may no longer be sent is withdrawn: nothing is left of its transaction', async (t) => {
  const transactions = startPipelined();
  untilEnd(transactions, BEN);
  answer(transactions, '250 kept', '250 ok', '250 ok', '354 go');
  transactions.withdraw();
  t.strictSame([transactions.mail, transactions.state], [null, 'idle']);
  t.equal(transactions.lost('closed'), null);
});

t.test(
  '421 closes the connection: on a new session it is the outcome, on a used one the mail is sent again',
  async (t) => {
    const before = { mail: [], rcpt: ['250 ok'], data: ['250 ok', '250 ok'] };
    for (const [stage, replies] of Object.entries(before)) {
      const first = startPipelined();
      first.begin(ANN);
      answer(first, ...replies);
      t.strictSame(answer(first, '421 closing'), [`close; ann@example.com: deferred ${stage} 421`]);

      const used = startPipelined();
      untilEnd(used);
      answer(used, '250 kept');
      used.begin(BEN);
      answer(used, ...replies);
      t.strictSame(answer(used, '421 closing'), [
        `close; ben@example.com: deferred ${stage} 421, send it again, session limit`,
      ]);
    }
  },
);

t.test('421 after the end of data is the outcome: the relay has had the message', async (t) => {
  const transactions = startPipelined();
  untilEnd(transactions);
  t.strictSame(answer(transactions, '421 closing'), ['close; ann@example.com: deferred body 421']);
});

t.test('a refusal stands when the connection is lost before the rest is answered', async (t) => {
  const transactions = startPipelined();
  transactions.begin(ANN);
  answer(transactions, '250 ok', '550 nobody');
  t.match(transactions.lost('reset'), { outcome: { kind: 'refused', stage: 'rcpt', code: 550 }, canRepeat: false });
});

t.test('a reply that the command cannot have closes the connection', async (t) => {
  const cases: [string[], string, string][] = [
    [[], '354 go', 'deferred mail 354'],
    [['250 ok'], '354 go', 'deferred rcpt 354'],
    [['250 ok', '250 ok'], '250 ok', 'deferred data 250'],
  ];
  for (const [replies, odd, outcome] of cases) {
    const transactions = startPipelined();
    transactions.begin(ANN);
    answer(transactions, ...replies);
    t.strictSame(answer(transactions, odd), [`close; ann@example.com: ${outcome}`]);
  }
  t.strictSame(answer(startPipelined(), '421 idle too long'), ['close: unexpected reply: 421 idle too long']);
});

t.test(
  'until the socket has flushed the end of data, a failure is one of the message, not of its acceptance',
  async (t) => {
    const midway = startPipelined();
    midway.begin(ANN);
    answer(midway, '250 ok', '250 ok', '354 go');
    t.strictSame(answer(midway, '552 too big'), ['close; ann@example.com: refused data 552']);

    const unflushed = startPipelined();
    unflushed.begin(ANN);
    answer(unflushed, '250 ok', '250 ok', '354 go');
    t.equal(unflushed.overdue, 'the message could not be written in time');
    unflushed.endOfDataWritten();
    t.match(unflushed.lost('reset'), { outcome: { kind: 'deferred', stage: 'data' } });

    const accepted = startPipelined();
    accepted.begin(ANN);
    answer(accepted, '250 ok', '250 ok', '354 go');
    accepted.endOfDataWritten();
    t.strictSame(answer(accepted, '250 kept'), ['ann@example.com: accepted body 250, then idle'], 'it has come anyway');
    t.equal(accepted.endOfDataFlushed(), false, 'what the socket reports later says nothing new');
  },
);

t.test('a deadline that passes is named after what was awaited', async (t) => {
  const transactions = startPipelined();
  transactions.begin(ANN);
  t.equal(transactions.overdue, 'no reply to MAIL in time');
  answer(transactions, '250 ok');
  t.equal(transactions.overdue, 'no reply to RCPT in time');
  const ended = startPipelined();
  untilEnd(ended);
  t.equal(ended.overdue, 'no reply to the end of data in time');
});
