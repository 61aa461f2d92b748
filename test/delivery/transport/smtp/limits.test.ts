/** Limits of one relay: how many mails a second it gets, and on how many connections. */
import t from 'tap';
import { SmtpPool } from '../../../../src/delivery/transport/smtp/pool.ts';
import { parseRelays } from '../../../../src/delivery/transport/smtp/relay-urls.ts';
import { accepted, sendMany } from '../../../support/smtp/pools.ts';
import { startSink } from '../../../support/smtp/scripted-relay.ts';
import { until } from '../../../support/until.ts';

t.test('a relay gets no more mails a second and connections than it may, and none is forgotten', async (t) => {
  const [first, second] = [await startSink(t), await startSink(t, { rcpt: '451 4.2.1 later\r\n' })];
  const [limited, other] = parseRelays([first, second].map(({ url }) => url).join(','));
  if (limited === undefined || other === undefined) throw new Error('no relay');
  let now = 1_000;
  const pool = new SmtpPool([{ ...limited, rate: 5, connections: 2 }, other], {
    monotonic: () => now,
    // The pool looks at waiting mail every few milliseconds.
    timeouts: { quit: 20 },
  });
  t.teardown(() => pool.close(0));
  t.equal(pool.room(), 2, 'at first its connections');
  const sent = sendMany(pool, 12);
  for (const count of [5, 10, 12]) {
    await until(() => first.received.length === count);
    await new Promise((resolve) => setTimeout(resolve, 30));
    t.equal(first.received.length, count, `${count} after ${now - 1_000} ms`);
    if (count < 12) t.equal(pool.room(), 0, 'no more is asked for meanwhile');
    now += 1_000;
  }
  t.equal(accepted(await sent).length, 12);
  t.ok(first.peak <= 2, 'on two connections');
  t.equal(second.connections, 0, 'the limit is no reason for another relay to take over');
});
