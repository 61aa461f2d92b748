/** What the commands of the SMTP client hold: names, sizes and addresses. */
import t from 'tap';
import { MailData } from '../../../../src/delivery/mime/mail-data.ts';
import { brief, MESSAGE, openPool, send } from '../../../support/smtp/pools.ts';
import { startSink } from '../../../support/smtp/scripted-relay.ts';

t.test('RFC 5321 3.2: HELO for a relay that does not know EHLO', async (t) => {
  const sink = await startSink(t, { ehlo: '502 5.5.1 what?\r\n' });
  t.equal(brief(await send(openPool(t, sink))), 'accepted body 250');
  t.strictSame(sink.commands.slice(0, 3), ['EHLO [127.0.0.1]', 'HELO [127.0.0.1]', 'MAIL FROM:<a@example.com>']);
  sink.script.helo = '550 5.7.1 go away\r\n';
  t.equal(brief(await send(openPool(t, sink))), 'held connect 550');
});

t.test('RFC 5321 4.1.4: EHLO gives a full domain name, and our address instead of anything else', async (t) => {
  for (const [name, said] of [
    ['mail.example.com', 'mail.example.com'],
    ['localhost', '[127.0.0.1]'],
    ['a.com\r\nRSET', '[127.0.0.1]'],
  ]) {
    const sink = await startSink(t);
    await send(openPool(t, sink, { name: () => name ?? '' }));
    t.equal(sink.commands[0], `EHLO ${said}`);
  }
});

t.test('RFC 1870: SIZE is sent if offered, and no larger message is', async (t) => {
  const sink = await startSink(t, { offers: ['PIPELINING', '8BITMIME', 'SIZE 100'] });
  const pool = openPool(t, sink, { connections: 1 });
  await send(pool);
  t.strictSame(
    sink.commands.filter((line) => line.startsWith('MAIL')),
    [`MAIL FROM:<a@example.com> SIZE=${MESSAGE.bytes.length}`],
  );
  const written = sink.commands.length;
  t.match(await send(pool, 'b@example.com', MailData.of('x'.repeat(101))), {
    kind: 'held',
    stage: 'mail',
    code: 0,
    reply: /101 bytes.*100/,
  });
  sink.script.offers = ['SIZE'];
  const plain = openPool(t, sink);
  t.equal(
    brief(await send(plain, 'b@example.com', MailData.of('x'.repeat(200_000)))),
    'accepted body 250',
    'SIZE without a number sets no limit',
  );
  t.strictSame(
    sink.commands.slice(written).filter((line) => line.startsWith('MAIL')),
    ['MAIL FROM:<a@example.com> SIZE=200000'],
  );
});

t.test('an address that would break out of its command is never written', async (t) => {
  const sink = await startSink(t);
  const pool = openPool(t, sink);
  for (const to of [
    '',
    'a b@x.com',
    'a@x.com>\r\nRCPT TO:<c@x.com',
    'a@x.com>',
    'a@x.com\n',
    'ü@x.com',
    'a@x.com\u0000',
  ]) {
    t.equal(brief(await send(pool, to)), 'refused rcpt 0', JSON.stringify(to));
    const sender = pool.send({ from: `${to}\r`, to: 'b@x.com', start: () => MESSAGE });
    t.equal(brief(await sender), 'held mail 0', JSON.stringify(to));
  }
  t.strictSame(sink.commands, ['EHLO [127.0.0.1]']);
  t.equal(brief(await pool.send({ from: '', to: 'b@x.com', start: () => MESSAGE })), 'accepted body 250');
  t.match(sink.commands[1], /^MAIL FROM:<> /);
});
