/** The writer of messages: what arrives at the other end of its connection, and when its buffers can be used again. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import t, { type Test } from 'tap';
import { SmtpConnection } from '../../../../../src/delivery/transport/smtp/connection.ts';
import { MessageWriter } from '../../../../../src/delivery/transport/smtp/session/message-writer.ts';
import { until } from '../../../../support/until.ts';

/** A writer, what has arrived from it, and how often it announced the end of data and that it was flushed. */
async function startWriter(t: Test, commands = '') {
  const seen = { arrived: '', endings: 0, flushes: 0, ms: 0 };
  const server = createServer((socket) => {
    socket.setEncoding('latin1').on('data', (text: string) => {
      seen.arrived += text;
    });
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const target = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  const connection = new SmtpConnection(
    target,
    () => seen.ms,
    () => server.close(),
  );
  t.teardown(() => connection.fail(new Error('the test is over')));
  const writer = new MessageWriter(connection, 1_000, {
    endingData: () => {
      seen.endings++;
      return commands;
    },
    flushed: () => {
      seen.flushes++;
    },
  });
  return { writer, connection, seen };
}

/** A message that lies in the buffer of the writer, as one that was built there. */
function built(buffer: Buffer, text: string): Buffer {
  return buffer.subarray(0, buffer.write(text, 'latin1'));
}

t.test('it works: a message, its end of data and the commands after it arrive in this order', async (t) => {
  const { writer, seen } = await startWriter(t, 'MAIL FROM:<>\r\n');
  writer.write(built(writer.buffer, 'Subject: x\r\n\r\n.\r\n.hidden\r\n'), false);
  await until(() => seen.flushes === 1 && seen.arrived.endsWith('<>\r\n'));
  t.equal(seen.arrived, 'Subject: x\r\n\r\n..\r\n..hidden\r\n.\r\nMAIL FROM:<>\r\n');
  t.equal(seen.endings, 1);
});

t.test('every length arrives whole, whether it fills the buffer, a block or several', async (t) => {
  for (const length of [2, 65_531, 65_533, 65_534, 65_536, 65_538, 131_072, 200_000]) {
    const { writer, seen } = await startWriter(t, 'NOOP\r\n');
    const text = `${'x'.repeat(length - 2)}\r\n`;
    const isBuilt = length <= writer.buffer.length;
    writer.write(isBuilt ? built(writer.buffer, text) : Buffer.from(text), true);
    await until(() => seen.flushes === 1 && seen.arrived.endsWith('NOOP\r\n'));
    t.ok(seen.arrived === `${text}.\r\nNOOP\r\n`, `${length} bytes`);
    t.equal(seen.endings, 1);
  }
});

t.test('a message that does not end with a line end gets one, and an empty one none', async (t) => {
  const { writer, seen } = await startWriter(t);
  writer.write(Buffer.from('no line end'), true);
  writer.write(Buffer.alloc(0), true);
  await until(() => seen.arrived.length >= 19);
  t.equal(seen.arrived, 'no line end\r\n.\r\n.\r\n');
});

t.test('each block has a deadline of its own', async (t) => {
  const { writer, connection, seen } = await startWriter(t);
  let expired = 0;
  connection.listener = { reply: () => {}, lost: () => {}, expired: () => expired++ };
  writer.write(Buffer.alloc(200_000, 'x'), true);
  seen.ms = 999;
  connection.check(seen.ms);
  await until(() => seen.flushes === 1);
  seen.ms = 1_998;
  connection.check(seen.ms);
  t.equal(expired, 0, 'the last block was begun after the first was flushed');
  seen.ms = 1_999;
  connection.check(seen.ms);
  t.equal(expired, 1);
});

t.test('a message that is stopped between two blocks has no end of data', async (t) => {
  const { writer, seen } = await startWriter(t);
  writer.write(Buffer.alloc(200_000, 'x'), true);
  writer.stop();
  await until(() => seen.arrived.length === 65_536);
  t.equal(seen.endings, 0);
  writer.write(Buffer.from('next\r\n'), true);
  await until(() => seen.flushes === 1 && seen.arrived.endsWith('.\r\n'));
  t.equal(seen.arrived, `${'x'.repeat(65_536)}next\r\n.\r\n`);
});

t.test('the buffer of a message is used again only when the socket has flushed it', async (t) => {
  const { writer, seen } = await startWriter(t);
  const { buffer, spareBuffer } = writer;
  writer.write(built(buffer, 'first\r\n'), true);
  writer.prepareNext(false);
  t.not(writer.buffer, buffer, 'the socket may still read it');
  await until(() => seen.flushes === 1);
  const second = writer.buffer;
  writer.prepareNext(false);
  t.equal(writer.buffer, second, 'flushed');
  writer.prepareNext(true);
  t.strictSame(
    [writer.buffer === spareBuffer, writer.spareBuffer === second],
    [true, true],
    'the pipelined one is next',
  );
});
