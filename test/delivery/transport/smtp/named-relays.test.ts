/** Mail that may go over one relay only: it keeps to that relay, and takes nothing from the others. */
import t, { type Test } from 'tap';
import { type PoolOptions, SmtpPool } from '../../../../src/delivery/transport/smtp/pool.ts';
import { parseRelays } from '../../../../src/delivery/transport/smtp/relay-urls.ts';
import { brief, gate, MESSAGE, NO_PIPELINING, openPool } from '../../../support/smtp/pools.ts';
import { type Sink, startSink } from '../../../support/smtp/scripted-relay.ts';
import { until } from '../../../support/until.ts';

/** A pool for relays of the file with the ids 1, 2, …, and how a mail for one of them, or with null for any, is sent. */
function openNamed(t: Test, sinks: Sink[], options: PoolOptions = {}) {
  const relays = parseRelays(sinks.map(({ url }) => url).join(',')).map((relay, at) => ({ ...relay, id: at + 1 }));
  const pool = new SmtpPool(relays, { ...options, timeouts: { quit: 200, ...options.timeouts } });
  t.teardown(() => pool.close(0));
  const send = (relayId: number | null, to = 'b@example.com') =>
    pool.send({ from: 'a@example.com', to, relayId, start: () => MESSAGE });
  return { pool, send };
}

t.test('a relay whose connections are all busy takes no room and no connection from the others', async (t) => {
  const { passed, open } = gate();
  const sinks = [await startSink(t), await startSink(t, { dot: () => passed.then(() => '250 ok\r\n') })];
  const { pool, send } = openNamed(t, sinks, { connections: 3 });
  const slow = Array.from({ length: 9 }, () => send(2));
  await until(() => pool.active === 3);
  t.strictSame([pool.room(2), pool.room(1), pool.room(null)], [0, 3, 3]);
  for (let round = 0; round < 20; round++) t.equal(brief(await send(null)), 'accepted body 250');
  t.equal(sinks[1]?.received.length, 3, 'none of them went to the busy relay');
  t.equal(sinks[1]?.peak, 3);
  open();
  t.ok((await Promise.all(slow)).every((one) => brief(one) === 'accepted body 250'));
  t.strictSame(
    sinks.map(({ received }) => received.length),
    [20, 9],
  );
});

t.test('a relay that refuses the sender of its own mail is not asked instead of another, nor given up', async (t) => {
  const sinks = [await startSink(t), await startSink(t, { offers: NO_PIPELINING, mail: '451 4.7.1 later\r\n' })];
  const { pool, send } = openNamed(t, sinks);
  for (let round = 0; round < 5; round++) t.equal(brief(await send(2)), 'deferred mail 451');
  t.equal(sinks[0]?.connections, 0);
  t.ok(pool.room(2) > 0);
});

t.test('mail for one relay and mail for any take turns at the relay that both go to', async (t) => {
  const { passed, open } = gate();
  const sink = await startSink(t, { offers: [], dot: () => passed.then(() => '250 ok\r\n') });
  const { pool, send } = openNamed(t, [sink, await startSink(t)], { connections: 1 });
  const mails = [send(1, 'first@example.com')];
  await until(() => pool.active === 1);
  for (let at = 0; at < 4; at++) mails.push(send(1, `own${at}@example.com`));
  for (let at = 0; at < 4; at++) mails.push(send(null, `any${at}@example.com`));
  open();
  await Promise.all(mails);
  const kinds = sink.received.map(({ to }) => /[a-z]+/.exec(to)?.[0]);
  t.strictSame(kinds.slice(1, 9).sort(), ['any', 'any', 'any', 'any', 'own', 'own', 'own', 'own']);
  t.ok(kinds.indexOf('any') < 3, kinds.join(' '));
});

t.test('a relay that is not there any more gets nothing, and no other does', async (t) => {
  const sink = await startSink(t);
  const { pool, send } = openNamed(t, [sink]);
  t.strictSame([pool.room(9), brief(await send(9)), sink.connections], [0, 'withdrawn', 0]);
});

t.test('with relays of the environment the name has no effect', async (t) => {
  const sink = await startSink(t);
  const pool = openPool(t, sink);
  t.ok(pool.room(7) > 0);
  t.equal(
    brief(await pool.send({ from: 'a@example.com', to: 'b@example.com', relayId: 7, start: () => MESSAGE })),
    'accepted body 250',
  );
});
