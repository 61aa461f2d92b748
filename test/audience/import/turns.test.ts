/** The order of imports. */
import t from 'tap';
import { Turns } from '../../../src/audience/import/turns.ts';

t.test('imports run one at a time, and accounts take turns, whoever waits with more files', async (t) => {
  const turns = new Turns();
  const began: number[] = [];
  let running = 0;
  const work = (account: number) => async () => {
    began.push(account);
    t.equal(++running, 1);
    await new Promise(setImmediate);
    running--;
    if (began.length === 2) throw new Error('a file that cannot be read');
  };
  await Promise.allSettled([1, 1, 1, 1, 2, 2, 3].map((account) => turns.run(account, work(account))));
  t.strictSame(began, [1, 2, 3, 1, 2, 1, 1]);
});
