/** Sender nodes and relays: one that refuses the sender, one that is replaced while mail leaves, and the rate of one for all nodes. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { SMTPServer } from 'smtp-server';
import t from 'tap';
import { readConfig } from '../../src/config.ts';
import { holdSending, releaseSending } from '../../src/delivery/queue/holds.ts';
import { RELAY_FAILS, RELAY_WORKS } from '../../src/delivery/transport/relays/failing-relays.ts';
import { NodeRelays } from '../../src/nodes/node/relays.ts';
import { MESSAGE } from '../support/smtp/pools.ts';
import { skipWithout } from '../support/tools.ts';
import { FleetSend, startRelay } from './rig.ts';

const skip = skipWithout('nats');
const ONCE = { problems: [], duplicates: 0, unreported: 0 };
/** By then what was in flight has ended. */
const SETTLED_MS = 1500;

/** The service takes its relays from its file. */
const FROM_FILE = { SMTP_URL: '', PUBLIC_URL: 'http://mail.example.com' };

function addRelay(client: Database.Database, port: number, rate = 0): void {
  client
    .prepare(`INSERT INTO relays (name, host, port, security, username, rate, connections, position, created_at, updated_at)
      VALUES ('Sink', '127.0.0.1', ?, 'none', '', ?, 20, 0, '', '')`)
    .run(port, rate);
}

t.test('a node warns once when its relay fails, whatever it tries, and once when it takes mail again', async (t) => {
  let fails = true;
  const relay = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onConnect: (_session, callback) =>
      callback(fails ? Object.assign(new Error('4.3.2 down'), { responseCode: 421 }) : null),
    onData: (stream, _session, callback) => void stream.resume().on('end', () => callback()),
  });
  relay.on('error', () => undefined);
  relay.listen(0, '127.0.0.1');
  await once(relay.server, 'listening');
  t.teardown(() => new Promise<void>((resolve) => relay.close(() => resolve())));
  const { port } = relay.server.address() as AddressInfo;
  const lines: [text: string, level: string | undefined][] = [];
  const relays = new NodeRelays(readConfig({ SMTP_URL: `smtp://127.0.0.1:${port}` }), (_fields, text, level) =>
    lines.push([text, level]),
  );
  t.teardown(() => relays.close(0));
  const send = async () => {
    const ended = await relays.send({ from: 'a@example.com', to: 'b@example.com', start: () => MESSAGE });
    return ended === 'withdrawn' ? ended : ended.kind;
  };
  for (let tries = 0; tries < 3; tries++) {
    t.equal(await send(), 'deferred');
    await setTimeout(tries === 0 ? 1100 : 2100);
  }
  t.strictSame(lines, [[RELAY_FAILS, 'warn']]);
  fails = false;
  while ((await send()) !== 'accepted') await setTimeout(200);
  t.equal(await send(), 'accepted');
  t.strictSame(lines.slice(1), [[RELAY_WORKS, undefined]]);
});

t.test('a relay that refuses the sender holds the mailing on every node, and nobody fails', { skip }, async (t) => {
  let refuses = true;
  let asked = 0;
  const taken: string[] = [];
  const relay = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onMailFrom(_address, _session, callback) {
      asked++;
      callback(refuses ? Object.assign(new Error('5.7.1 this sender may not send here'), { responseCode: 550 }) : null);
    },
    onData(stream, session, callback) {
      stream.resume().on('end', () => {
        taken.push(session.envelope.rcptTo[0]?.address ?? '');
        callback();
      });
    },
  });
  relay.on('error', () => undefined);
  relay.listen(0, '127.0.0.1');
  await once(relay.server, 'listening');
  t.teardown(() => new Promise<void>((resolve) => relay.close(() => resolve())));
  const { port } = relay.server.address() as AddressInfo;
  const service = { SMTP_URL: `smtp://127.0.0.1:${port}` };
  const send = await FleetSend.prepare(t, { people: 600, rate: 0, nodes: 2, service });
  await send.start();
  await send.until(() => send.read('SELECT state FROM mailings').state === 'held');
  // A slow machine takes longer until no node asks the relay any more.
  for (let before = -1; before !== asked; await setTimeout(SETTLED_MS)) before = asked;
  t.same(send.counts(), { states: '{"0":600}' }, 'everybody waits');
  refuses = false;
  await send.command('resume');
  await send.until(() => send.isOver());
  t.equal(taken.length, 600);
  t.equal(new Set(taken).size, 600);
});

t.test(
  'a relay of the file that is replaced while nodes send: everybody gets it once, the rest over the new one',
  { skip },
  async (t) => {
    const send = await FleetSend.prepare(t, { people: 1000, rate: 150, nodes: 2, service: FROM_FILE });
    const other = await startRelay(t, 0);
    const client = new Database(send.file);
    t.teardown(async () => void client.close());
    addRelay(client, send.relay.port);
    await send.start();
    await send.until(async () => (await send.taken()) > 150);
    client.transaction(() => {
      client.prepare('UPDATE relays SET port = ?').run(other.port);
      client.exec(
        "INSERT INTO installation (name, value) VALUES ('relays_revision', 'new') ON CONFLICT DO UPDATE SET value = excluded.value",
      );
    })();
    await send.until(() => send.isOver());
    const before = await send.taken();
    t.match(await other.ask(''), { messages: 1000 - before, recipients: 1000 - before });
    t.ok(before < 750, `${before} over the old one`);
    t.match(send.read('SELECT delivered FROM mailings'), { delivered: 1000 });
  },
);

t.test('the rate of a relay is for all nodes together', { skip }, async (t) => {
  const rate = 40;
  const send = await FleetSend.prepare(t, { people: 600, rate: 0, nodes: 4, service: FROM_FILE });
  const client = new Database(send.file);
  t.teardown(async () => void client.close());
  addRelay(client, send.relay.port, rate);
  await send.start();
  await send.until(async () => (await send.taken()) > 2 * rate);
  // Each node begins with the allowance of a second, so it is counted after that.
  const at = Date.now();
  const from = await send.taken();
  await send.until(async () => (await send.taken()) > from + 4 * rate);
  const sent = (await send.taken()) - from;
  const most = rate * ((Date.now() - at) / 1000 + 2);
  t.ok(sent <= most, `${sent} mails, at most ${most}`);
});

t.test('while all sending is held no node begins a mail, and all goes on once it is released', { skip }, async (t) => {
  const send = await FleetSend.prepare(t, { people: 1000, rate: 150, nodes: 2 });
  await send.start();
  await send.until(async () => (await send.taken()) > 100);
  const client = new Database(send.file);
  t.teardown(async () => void client.close());
  holdSending(client, 'for a test');
  await send.until(() => send.read('SELECT count(*) AS n FROM deliveries WHERE state = 1').n === 0);
  const begun = await send.taken();
  await setTimeout(SETTLED_MS);
  t.equal(await send.taken(), begun);
  t.not(begun, 1000);
  await send.relay.pace(0);
  releaseSending(client, Date.now());
  await send.until(() => send.isOver());
  t.same(await send.reckon(), ONCE);
});
