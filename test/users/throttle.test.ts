/** Guessing is slowed down by address and by user, and nobody is locked out. */
import t from 'tap';
import { Throttle } from '../../src/users/throttle.ts';
import { FakeClock } from '../support/app.ts';

const MINUTE = 60_000;

function setUp() {
  const clock = new FakeClock();
  return { clock, throttle: new Throttle(clock) };
}

const from = (address: string, user = 'ann@example.org', isKnown = false) => ({ address, user, isKnown });

t.test('after five attempts each further one waits twice as long, up to a limit', async (t) => {
  const { clock, throttle } = setUp();
  for (let at = 0; at < 5; at++) t.equal(throttle.begin(from('192.0.2.1', `user${at}@example.org`)), 0);
  const waits: number[] = [];
  for (let at = 5; at < 20; at++) {
    const wait = throttle.begin(from('192.0.2.1', `user${at}@example.org`));
    waits.push(wait);
    clock.advance(wait);
    t.equal(throttle.begin(from('192.0.2.1', `user${at}@example.org`)), 0, 'then it may go on');
  }
  t.strictSame(waits.slice(0, 5), [1000, 2000, 4000, 8000, 16_000]);
  t.equal(Math.max(...waits), 15 * MINUTE);
});

t.test('an attempt that must wait is not counted, so hammering makes nothing longer', async (t) => {
  const { throttle } = setUp();
  for (let at = 0; at < 5; at++) throttle.begin(from('192.0.2.1'));
  for (let at = 0; at < 1000; at++) t.equal(throttle.begin(from('192.0.2.1')), 1000);
});

t.test('guesses at a user from many addresses slow down that user by a minute at most', async (t) => {
  const { clock, throttle } = setUp();
  for (let at = 0; at < 100; at++) clock.advance(throttle.begin(from(`198.51.100.${at}`)));
  t.ok(throttle.begin(from('203.0.113.1')) <= MINUTE);
  t.equal(throttle.begin(from('203.0.113.1', 'bob@example.org')), 0, 'others are not concerned');
});

t.test('guesses at the code of a user whose password is known wait up to half an hour', async (t) => {
  for (const isKnown of [false, true]) {
    const { clock, throttle } = setUp();
    const code = (address: string) => ({ ...from(address, 'ann@example.org code', isKnown), isCode: true });
    let guesses = 0;
    for (const end = clock.monotonic() + 24 * 60 * MINUTE; clock.monotonic() < end; ) {
      const address = isKnown ? '192.0.2.1' : `198.51.100.${guesses}`;
      // A right password makes the count of the address as at first.
      throttle.succeed(from(address));
      const wait = throttle.begin(code(address));
      t.ok(wait <= 30 * MINUTE);
      clock.advance(wait);
      if (wait === 0) guesses++;
    }
    t.ok(guesses < 80, `${guesses} guesses in a day`);
    t.ok(throttle.begin(from('203.0.113.1')) <= MINUTE, 'the password has a count of its own');
  }
});

t.test('a user who signed in from an address before does not wait because of strangers', async (t) => {
  const { clock, throttle } = setUp();
  for (let at = 0; at < 100; at++) clock.advance(throttle.begin(from('198.51.100.1')));
  for (let at = 0; at < 50; at++) throttle.begin(from(`203.0.113.${at}`));
  t.ok(throttle.begin(from('198.51.100.1')) > 0);
  t.equal(throttle.begin(from('198.51.100.1', 'ann@example.org', true)), 0);
});

t.test('a right password and an hour without attempts make everything as at first', async (t) => {
  const { clock, throttle } = setUp();
  for (let at = 0; at < 5; at++) throttle.begin(from('192.0.2.1'));
  clock.advance(1000);
  throttle.begin(from('192.0.2.1'));
  throttle.succeed(from('192.0.2.1'));
  for (let at = 0; at < 5; at++) t.equal(throttle.begin(from('192.0.2.1')), 0);
  clock.advance(60 * MINUTE);
  for (let at = 0; at < 5; at++) t.equal(throttle.begin(from('192.0.2.1')), 0);
});

t.test('the addresses of one IPv6 customer count as one, mapped IPv4 addresses as themselves', async (t) => {
  const { throttle } = setUp();
  const addresses = ['2001:db8:1:2::1', '2001:db8:1:2:ffff::2', '2001:0db8:0001:0002:0:0:0:3', '2001:db8:1:2:3:4:5:6'];
  for (const [at, address] of [...addresses, '2001:db8:1:2::9'].entries())
    t.equal(throttle.begin(from(address, `${at}@example.org`)), 0);
  t.ok(throttle.begin(from('2001:db8:1:2::1', 'x@example.org')) > 0);
  t.equal(throttle.begin(from('2001:db8:1:3::1', 'x@example.org')), 0);
  for (let at = 0; at < 5; at++) throttle.begin(from(`2001:db8::${at}:1`, `${at}short@example.org`));
  t.ok(throttle.begin(from('2001:db8::1', 'y@example.org')) > 0, 'with zeros left out in the network');
  for (let at = 0; at < 5; at++) throttle.begin(from('::ffff:192.0.2.7', `${at}y@example.org`));
  t.ok(throttle.begin(from('192.0.2.7', 'z@example.org')) > 0);
});

t.test('a flood of addresses and users takes bounded memory', async (t) => {
  const { throttle } = setUp();
  for (let at = 0; at < 30_000; at++)
    throttle.begin(from(`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`, `${at}@x.example`));
  for (let at = 0; at < 5; at++) throttle.begin(from('192.0.2.1'));
  t.ok(throttle.begin(from('192.0.2.1')) > 0, 'and still counts');
});
