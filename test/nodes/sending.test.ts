/** Sender nodes as processes: what they send, what pauses stop, and what a node leaves behind. */
import { setTimeout } from 'node:timers/promises';
import t from 'tap';
import { skipWithout } from '../support/tools.ts';
import { FleetSend, NodeProcess } from './rig.ts';

const skip = skipWithout('nats');
const ONCE = { problems: [], duplicates: 0, unreported: 0 };

t.test('two nodes send a mailing, each recipient once, with the relay of the service', { skip }, async (t) => {
  const send = await FleetSend.prepare(t, { people: 1000, rate: 0, nodes: 2 });
  await send.start();
  await send.until(() => send.isOver());
  t.same(await send.reckon(), ONCE);
});

t.test('once a pause is answered, none of four nodes begins a mail, and all goes on after it', { skip }, async (t) => {
  const send = await FleetSend.prepare(t, { people: 1500, rate: 150, nodes: 4 });
  await send.start();
  await send.until(async () => (await send.taken()) > 150);
  await send.command('pause');
  const begun = await send.taken();
  await setTimeout(1500);
  t.equal(await send.taken(), begun);
  t.not(begun, 1500);
  await send.relay.pace(0);
  await send.command('resume');
  await send.until(() => send.isOver());
  t.same(await send.reckon(), ONCE);
});

t.test('a node that is told to end gives back what it has not begun, and reports the rest', { skip }, async (t) => {
  const send = await FleetSend.prepare(t, { people: 1000, rate: 100, nodes: 2 });
  await send.start();
  await send.until(async () => (await send.taken()) > 50);
  t.equal(await send.nodes[0]?.end('SIGTERM'), 0);
  t.notOk(send.isOver());
  await send.relay.pace(0);
  await send.until(() => send.isOver());
  t.same(await send.reckon(), ONCE);
});

t.test(
  'without a node mail waits, and a node whose relay cannot be reached leaves its share to others',
  { skip },
  async (t) => {
    const send = await FleetSend.prepare(t, { people: 500, rate: 0, nodes: 2 });
    await send.service.start();
    await setTimeout(1000);
    t.equal(await send.taken(), 0);
    const lost = new NodeProcess(t, 'lost', { NATS_URL: send.nats.urls, SMTP_URL: 'smtp://127.0.0.1:9' });
    lost.start();
    for (const node of send.nodes) node.start();
    await send.until(() => send.isOver());
    t.same(await send.reckon(), ONCE);
  },
);
