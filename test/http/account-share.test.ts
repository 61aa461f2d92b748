/** Shares of what all accounts use. */
import t from 'tap';
import { inTurn, limitPerKey } from '../../src/http/account-share.ts';

t.test('the work of one account is done one after the other, and keeps no other account waiting', async (t) => {
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const work = (name: string, until: Promise<void> = Promise.resolve()) => {
    return async () => {
      done.push(`${name} begins`);
      await until;
      done.push(`${name} ends`);
    };
  };
  const own = [inTurn(1, work('a', first.promise)), inTurn(1, work('b')), inTurn(1, work('c'))];
  await inTurn(2, work('other'));
  t.strictSame(done, ['a begins', 'other begins', 'other ends']);
  first.resolve();
  await Promise.all(own);
  t.strictSame(done.slice(3), ['a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

t.test('what fails keeps nothing after it from being done', async (t) => {
  const failed = inTurn(1, () => Promise.reject(new Error('full')));
  const next = inTurn(1, async () => 'stored');
  await t.rejects(failed, { message: 'full' });
  t.equal(await next, 'stored');
  t.equal(await inTurn(1, async () => 'stored too'), 'stored too');
});

t.test('what an account has waiting is bounded, and takes no room from another', async (t) => {
  const inTurn = limitPerKey({ most: 2 });
  const first = Promise.withResolvers<string>();
  const own = [inTurn(1, () => first.promise), inTurn(1, async () => 'second')];
  const refused = inTurn(1, async () => 'third').catch((error: unknown) => error);
  t.match(await refused, { status: 503 });
  t.equal(await inTurn(2, async () => 'other'), 'other');
  first.resolve('first');
  t.strictSame(await Promise.all(own), ['first', 'second']);
  t.equal(await inTurn(1, async () => 'again'), 'again');
});

t.test('what nobody waits for any more is not done when its turn comes', async (t) => {
  const inTurn = limitPerKey();
  const first = Promise.withResolvers<string>();
  let isGone = false;
  const done: string[] = [];
  const work = async () => done.push('gone');
  const own = inTurn(1, () => first.promise);
  const left = inTurn(1, work, () => isGone).catch((error: unknown) => error);
  const next = inTurn(1, async () => 'next');
  isGone = true;
  first.resolve('first');
  t.equal(await own, 'first');
  t.match(await left, { status: 503 });
  t.equal(await next, 'next');
  t.strictSame(done, []);
});

t.test('some of an account are under way at once where that is allowed', async (t) => {
  const inTurn = limitPerKey({ most: 4, atOnce: 2 });
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const begun: string[] = [];
  const work = (name: string, until = Promise.resolve()) => {
    return async () => {
      begun.push(name);
      await until;
    };
  };
  const own = [inTurn(1, work('a', first.promise)), inTurn(1, work('b', second.promise))];
  own.push(inTurn(1, work('c')), inTurn(1, work('d')));
  t.match(await inTurn(1, work('e')).catch((error: unknown) => error), { status: 503 });
  t.strictSame(begun, ['a', 'b']);
  first.resolve();
  await Promise.all([own[0], own[2], own[3]]);
  t.strictSame(begun, ['a', 'b', 'c', 'd']);
  second.resolve();
  await Promise.all(own);
});
