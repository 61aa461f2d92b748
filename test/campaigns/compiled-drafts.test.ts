/** Keeping compiled drafts: once for the same source, as long as there is room. */
import t from 'tap';
import { CompiledDrafts } from '../../src/campaigns/compiled-drafts.ts';

const frozen = (name: string) => ({ name });

t.test(
  'the same draft is compiled once, also for those who ask at the same time; a problem is looked at anew',
  async (t) => {
    const drafts = new CompiledDrafts<{ name: string }>();
    let made = 0;
    const make = async () => frozen(`${++made}`);
    const [one, other] = await Promise.all([drafts.get(['a'], make), drafts.get(['a'], make)]);
    t.equal(one, other);
    t.equal(await drafts.get(['a'], make), one);
    t.not(await drafts.get(['b'], make), one);
    t.equal(made, 2);
    let tries = 0;
    const fail = async () => ({ problem: `${++tries}` });
    await drafts.get(['c'], fail);
    t.strictSame(await drafts.get(['c'], fail), { problem: '2' });
    await t.rejects(drafts.get(['d'], () => Promise.reject(new Error('busy'))));
    t.strictSame(await drafts.get(['d'], make), frozen('3'), 'a refusal is not kept');
  },
);

t.test('what was not asked for longest makes room', async (t) => {
  const drafts = new CompiledDrafts<{ name: string }>();
  let made = 0;
  const get = (name: string) => drafts.get([name.repeat(3_000_000)], async () => frozen(`${++made}`));
  await get('a');
  await get('b');
  await get('a');
  await get('c');
  t.equal(made, 3);
  await get('a');
  t.equal(made, 3, 'asked for since');
  await get('b');
  t.equal(made, 4);
});
