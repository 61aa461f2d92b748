/** A month of a shop: every mail must be the one that an independent model of the rules sends. More: `npm run test:month -- SEED`. */
import t from 'tap';
import { mailingCounters } from '../../fixtures/mailing-counters.ts';
import type { Mail } from './month-model.ts';
import { startWorld } from './month-world.ts';

const SEED = Number(process.env.SEED ?? 20_261_121);
const SHOWN = 3;

/** The mails of each address, as sorted lines. */
function byAddress(mails: readonly Mail[]): Map<string, string[]> {
  const lines = new Map<string, string[]>();
  for (const { to, subject, from, at } of mails) {
    const line = `${new Date(at).toISOString().slice(0, 16)} ${subject} from ${from}`;
    lines.set(to, [...(lines.get(to) ?? []), line].sort());
  }
  return lines;
}

t.test('in a month of a shop every mail and every silence is as the rules say', async (t) => {
  t.comment(`SEED=${SEED}`);
  const world = await startWorld(t, SEED);
  const { model, accepted, between } = world;
  await world.createAutomation(1, 1, 1, 0);
  await world.createAutomation(2, 1, 2, 1);
  await world.createAutomation(3, 2, 1, 1);
  await world.addMail(1, 'instantly', 1);
  await world.addMail(1, 'days', 2);
  await world.addMail(1, 'hours', 12);
  await world.addMail(2, 'hours', 3);
  await world.addMail(2, 'days', 1);
  await world.addMail(2, 'days', 3);
  await world.addMail(3, 'instantly', 1);
  await world.addMail(3, 'instantly', 7);
  await world.addMail(3, 'hours', 30);
  await world.import(60, 1);
  const scripted: Record<number, (() => Promise<unknown>)[]> = {
    1: [() => world.setLive(1), () => world.import(60, 1), () => world.setLive(3)],
    5: [() => world.setLive(2)],
    12: [() => world.send('Send 1', [1], [], 1)],
    40: [() => world.send('Send 2', [1, 2], [], 2)],
    70: [() => world.send('At once', [1], [2], 1)],
    100: [() => world.send('Send 4', [2], [], 1)],
  };
  for (let quarter = 0; quarter < 120; quarter++) {
    const imports = quarter % 28 === 27 ? [() => world.import(between(30, 60), between(1, 2))] : [];
    await world.quarter(...(scripted[quarter] ?? []), ...imports);
  }

  const actual = byAddress(accepted);
  const expected = byAddress(model.mails);
  const everybody = new Set([...actual.keys(), ...expected.keys()]);
  const differing = [...everybody].filter((address) => String(actual.get(address)) !== String(expected.get(address)));
  for (const address of differing.slice(0, SHOWN)) {
    const lines = (title: string, of: string[] = []) => `${title}\n  ${of.join('\n  ')}`;
    t.comment(`${address}\n${lines('model', model.history(address))}\n${lines('sent', actual.get(address))}`);
  }
  t.comment(`${everybody.size} addresses, ${model.mails.length} mails`);
  t.equal(differing.length, 0, `${everybody.size} addresses, ${model.mails.length} mails`);
  for (const { name, kept, right } of mailingCounters(world.app.db)) t.strictSame(kept, right, name);
  t.ok(model.mails.length > 400, `${model.mails.length} mails`);
});
