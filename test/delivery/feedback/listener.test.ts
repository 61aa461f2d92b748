/** The bounce listener: what it accepts, and who cannot keep it busy. */
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import nodemailer from 'nodemailer';
import t, { type Test } from 'tap';
import {
  type BounceListenerOptions,
  ConnectionLimiter,
  type ReturnedMail,
  startBounceListener,
} from '../../../src/delivery/feedback/bounces/listener.ts';
import { parseReturnPath } from '../../../src/delivery/links/return-paths.ts';
import { KNOWN, mails, pathOf, SECRET, toOf, withCrlf } from '../../support/mails/returned-mails.ts';
import { expected } from './corpus/expected.ts';

function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}

t.test('the listener', (t) => {
  const PATIENT = { perAddress: 5, commands: 1000, idleMs: 60_000, lifetimeMs: 60_000 };
  const ours = pathOf(5);
  const listen = async (t: Test, options: Partial<BounceListenerOptions> = {}) => {
    const kept: ReturnedMail[] = [];
    const listener = await startBounceListener({
      host: '127.0.0.1',
      port: 0,
      accept: (rcpt) => parseReturnPath([SECRET], KNOWN, rcpt) !== null,
      onMail: async (mail) => void kept.push(mail),
      maxBytes: 100_000,
      keepBytes: 100_000,
      maxConnections: 5,
      limits: PATIENT,
      ...options,
    });
    t.teardown(() => listener.close());
    const client = nodemailer.createTransport({ host: '127.0.0.1', port: listener.port, ignoreTLS: true });
    const send = (to: string[], raw: string | Buffer, from = '') => client.sendMail({ envelope: { from, to }, raw });
    return { ...listener, kept, send };
  };

  t.test('accepts a mail to one of our return paths, byte by byte, from the null sender', async (t) => {
    const { send, kept } = await listen(t);
    const raw = 'Subject: x\r\n\r\n.a line with a dot\r\n..\r\n\x80\xff\r\n';
    await send([ours.toUpperCase()], Buffer.from(raw, 'latin1'));
    t.equal(kept.length, 1);
    t.equal(kept[0]?.from, '');
    t.equal(parseReturnPath([SECRET], KNOWN, kept[0]?.rcpt ?? ''), 5);
    t.equal(kept[0]?.raw.toString('latin1'), raw);
  });

  t.test('accepts the corpus, and refuses the forged return path at RCPT', async (t) => {
    const { send, kept } = await listen(t);
    for (const { name, raw } of mails) {
      const sending = send([toOf(raw)], withCrlf(raw));
      if (expected[name]?.delivery === null) {
        t.match(await failureOf(sending), { responseCode: 550, response: /^550 5\.1\.1 / });
      } else {
        await sending;
      }
    }
    t.equal(kept.length, mails.length - 1);
    t.same(new Set(kept.map(({ rcpt }) => parseReturnPath([SECRET], KNOWN, rcpt))).size, mails.length - 1);
  });

  t.test('relays nothing, and accepts one recipient at a time', async (t) => {
    const { send, kept } = await listen(t);
    t.match(await failureOf(send(['somebody@elsewhere.example'], 'x', 'me@elsewhere.example')), { responseCode: 550 });
    const second = pathOf(6);
    const { rejected } = await send([ours, 'somebody@elsewhere.example', second], 'x');
    t.same(rejected, ['somebody@elsewhere.example', second]);
    t.same(
      kept.map(({ rcpt }) => rcpt),
      [ours],
    );
  });

  t.test('replies 250 only once the mail is stored', async (t) => {
    const order: string[] = [];
    const { send } = await listen(t, {
      onMail: async () => {
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
        order.push('kept');
      },
    });
    await send([ours], 'x').then(() => order.push('answered'));
    t.same(order, ['kept', 'answered']);
  });

  t.test('replies 451 if the mail could not be stored, so that it is sent again', async (t) => {
    const { send } = await listen(t, { onMail: () => Promise.reject(new Error('secret disk full')) });
    const failure = await failureOf(send([ours], 'x'));
    t.match(failure, { responseCode: 451, response: /^451 4\.3\.0 / });
    t.notMatch(failure, { response: /secret/ });
  });

  t.test('refuses a mail that is too large with 552, announced or not, and stores nothing of it', async (t) => {
    const { send, kept, port } = await listen(t);
    t.match(await failureOf(send([ours], 'x'.repeat(200_000))), { responseCode: 552 });
    const answers = await talk(port, [
      'MAIL FROM:<>',
      `RCPT TO:<${ours}>`,
      'DATA',
      `${'x\r\n'.repeat(100_000)}.`,
      'QUIT',
    ]);
    t.match(answers.at(-2), /^552 5\.3\.4 /);
    t.equal(kept.length, 0);
    await send([ours], 'y');
    t.equal(kept.length, 1);
  });

  t.test('offers and accepts neither AUTH nor STARTTLS', async (t) => {
    const { port } = await listen(t);
    const answers = await talk(port, ['AUTH PLAIN AGEAYg==', 'STARTTLS', 'QUIT']);
    t.notMatch(answers.join('\n'), /250[- ](AUTH|STARTTLS)/);
    t.match(answers.slice(-3), [/^500 /, /^500 /, /^221 /]);
  });

  t.test('refuses connections beyond its limit', async (t) => {
    const { port, send } = await listen(t, { maxConnections: 1 });
    const first = createConnection(port, '127.0.0.1');
    await new Promise((resolve) => first.once('data', resolve));
    t.match(await failureOf(send([ours], 'x')), { responseCode: 421 });
    const closed = new Promise((resolve) => first.once('close', resolve));
    first.end('QUIT\r\n').resume();
    await closed;
  });

  t.test('idle connections that send NOOP are closed, so that others can connect', async (t) => {
    const { port, send } = await listen(t, { maxConnections: 3, limits: { ...PATIENT, idleMs: 400 } });
    const ended = Array.from({ length: 3 }, () => untilEnded(port, (socket) => socket.write('NOOP\r\n')));
    for (const text of await Promise.all(ended)) t.match(text, /^421 .*No mail for too long\r\n$/m);
    t.match((await send([ours], 'x')).response, /^250 /);
  });

  t.test('a mail that never ends is cut off, even if bytes keep arriving', async (t) => {
    const { port, kept } = await listen(t, { limits: { ...PATIENT, idleMs: 1000, lifetimeMs: 400 } });
    const start = `EHLO client.example\r\nMAIL FROM:<>\r\nRCPT TO:<${ours}>\r\nDATA\r\n`;
    let said = '';
    const text = await untilEnded(port, (socket) => {
      if (said === '') socket.write(start);
      said = 'x';
      socket.write(said);
    });
    t.match(text, /^354 [\s\S]*^421 .*Connected for too long\r\n$/m);
    t.equal(kept.length, 0);
  });

  t.test('a connection has a maximum number of commands', async (t) => {
    const { port } = await listen(t, { limits: { ...PATIENT, commands: 20 } });
    const answers = await talk(port, Array(100).fill('RSET'));
    t.equal(answers.length, 22, 'greeting, EHLO, 19 resets and the end');
    t.match(answers.at(-1), /^421 .*Too many commands/m);
  });

  t.test('an address has a maximum number of connections, and can connect again once one is closed', async (t) => {
    const { port, send } = await listen(t, { limits: { ...PATIENT, perAddress: 1 } });
    const first = createConnection(port, '127.0.0.1');
    await new Promise((resolve) => first.once('data', resolve));
    t.match(await failureOf(send([ours], 'x')), { responseCode: 421, response: /your address/ });
    const closed = new Promise((resolve) => first.once('close', resolve));
    first.end('QUIT\r\n').resume();
    await closed;
    t.match((await send([ours], 'x')).response, /^250 /);
  });

  t.test('addresses of one IPv6 /64 network count as one', async (t) => {
    const visitors = new ConnectionLimiter({ ...PATIENT, perAddress: 1 });
    const enter = (remoteAddress: string) =>
      visitors.connected({ id: remoteAddress, remoteAddress, send: () => undefined });
    t.strictSame(
      ['2001:db8:1:2::1', '2001:db8:1:2:ff::9', '2001:db8:1:3::1', '::1', '::2', '::ffff:10.0.0.1', '10.0.0.1'].map(
        enter,
      ),
      [true, false, true, true, false, true, false],
    );
  });

  t.test('no more of a mail is kept in memory than is parsed', async (t) => {
    const { send, kept } = await listen(t, { keepBytes: 20_000 });
    t.match((await send([ours], `begin${'x\r\n'.repeat(30_000)}`)).response, /^250 /);
    t.equal(kept[0]?.raw.length, 20_000);
    t.equal(kept[0]?.raw.buffer.byteLength, 20_000);
    t.match(kept[0]?.raw.toString(), /^begin/);
  });

  t.test('closing lets the current mail be stored and answered', async (t) => {
    let arrived: () => void = () => undefined;
    const inHand = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { send, close } = await listen(t, {
      onMail: () => {
        arrived();
        return gate;
      },
    });
    const sending = send([ours], 'x');
    await inHand;
    const closing = close();
    release();
    t.match((await sending).response, /^250 /);
    await closing;
    await t.rejects(send([ours], 'x'));
  });

  t.test('closing waits for the current mail even if its sender has disconnected', async (t) => {
    const order: string[] = [];
    const { port, close } = await listen(t, {
      onMail: async () => {
        client.destroy();
        for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
        order.push('kept');
      },
    });
    const client = createConnection(port, '127.0.0.1');
    await new Promise((resolve) => client.once('data', resolve));
    const left = new Promise((resolve) => client.once('close', resolve));
    client.write(`EHLO client.example\r\nMAIL FROM:<>\r\nRCPT TO:<${ours}>\r\nDATA\r\nx\r\n.\r\n`);
    await left;
    await close();
    order.push('closed');
    t.same(order, ['kept', 'closed']);
  });

  t.test('a port in use is an error at the start', async (t) => {
    const { port } = await listen(t);
    await t.rejects(listen(t, { port }), { code: 'EADDRINUSE' });
  });
  t.end();
});

/** Connects and repeats `act` every few milliseconds until the server closes; returns everything it sent. */
async function untilEnded(port: number, act: (socket: Socket) => void): Promise<string> {
  const socket = createConnection(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.setEncoding('latin1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'data');
  const acting = setInterval(() => act(socket), 5);
  await once(socket, 'end');
  clearInterval(acting);
  socket.destroy();
  return text;
}

/** Sends each line after EHLO and waits for its reply; returns all replies. */
async function talk(port: number, lines: string[]): Promise<string[]> {
  const socket = createConnection(port, '127.0.0.1');
  const answers: string[] = [];
  const pending = ['EHLO client.example', ...lines];
  socket.setEncoding('latin1');
  let text = '';
  for await (const chunk of socket) {
    text += chunk;
    if (!/^\d{3} .*\r\n$/m.test(text.slice(text.lastIndexOf('\n', text.length - 2) + 1))) continue;
    answers.push(text);
    text = '';
    const line = pending.shift();
    if (line !== undefined) socket.write(`${line}\r\n`);
  }
  return answers;
}
