/**
 * A month of three automations: every mail must be the one that an independent model of the rules sends. With a seed, as `npm run
 * test:month` gives it, over 10,000 people; otherwise over a fifth of them.
 */
import t from 'tap';
import type { Mail } from './automation-model.ts';
import { startWorld } from './automation-month.ts';

const SEED = Number(process.env.SEED ?? 20_260_115);
const SHARE = process.env.SEED === undefined ? 5 : 1;
const SHOWN = 3;

/** The mails of each person in order, one per line. */
function byPerson(mails: Mail[]): Map<string, string[]> {
  const lines = new Map<string, string[]>();
  const sorted = mails.toSorted((a, b) => a.automation - b.automation || a.at - b.at || a.schedule - b.schedule);
  for (const { person, automation, schedule, at } of sorted) {
    const line = `${new Date(at).toISOString().slice(0, 16)} mail ${schedule} of automation ${automation}`;
    lines.set(person, [...(lines.get(person) ?? []), line]);
  }
  return lines;
}

t.test(
  'a month of joins, leaves, unsubscribes, pauses and kills sends what the rules say, to the last mail',
  async (t) => {
    t.comment(`SEED=${SEED}`);
    const world = await startWorld(t, SEED);
    const { app, model, relay, between } = world;
    await world.create(1, { target: 1, group: 1, exit: 0 });
    await world.create(2, { target: 1, group: 2, exit: 1 });
    await world.create(3, { target: 2, group: 1, exit: 1 });
    await world.addSchedule(1, 'instantly', 1);
    const second = await world.addSchedule(1, 'days', 2);
    await world.addSchedule(1, 'hours', 12);
    await world.addSchedule(2, 'hours', 3);
    await world.addSchedule(2, 'days', 1);
    const last = await world.addSchedule(2, 'days', 3);
    await world.addSchedule(3, 'instantly', 1);
    await world.addSchedule(3, 'instantly', 7);
    await world.addSchedule(3, 'hours', 30);
    await world.import(1500 / SHARE, 1);
    await world.setLive(1);
    const addNew = () => world.addNew(1);
    const at: Record<string, (() => Promise<unknown>)[]> = {
      '1/5': [() => world.addNew(2), () => world.setLive(3), () => world.addNew(2)],
      '3/7': [addNew, () => world.setLive(2), addNew],
      '8/4': [addNew, () => world.pause(1), addNew],
      '11/4': [addNew, () => world.setLive(1), addNew],
      '12/9': [() => world.addSchedule(1, 'hours', 5)],
      '15/2': [addNew, async () => app.clock.jump(-3_600_000), addNew],
      '17/3': [() => world.deleteSchedule(1, second)],
      '20/6': [addNew, () => world.pause(2), addNew],
      '21/2': [() => world.addSchedule(2, 'days', 1), () => world.deleteSchedule(2, last)],
      '23/1': [addNew, () => world.setLive(2), addNew],
    };
    const kills = ['6/12', '18/12'];
    for (let day = 0; day < 30; day++) {
      for (let hour = 0; hour < 24; hour++) {
        const moment = `${day}/${hour}`;
        const imports =
          hour === 12 ? [() => world.import(between(220 / SHARE, 420 / SHARE), between(1, 6) === 1 ? 2 : 1)] : [];
        await world.hour(...(at[moment] ?? []), ...imports);
        if (kills.includes(moment))
          t.ok(await world.killedAfter(between(20, Math.round(150 / SHARE))), 'killed in the middle of its mails');
        await app.background();
      }
    }

    const accepted = world.accepted();
    const actual = byPerson(accepted);
    const expected = byPerson(model.mails);
    const everybody = new Set([...actual.keys(), ...expected.keys()]);
    const differing = [...everybody].filter((person) => String(actual.get(person)) !== String(expected.get(person)));
    for (const person of differing.slice(0, SHOWN)) {
      const lines = (title: string, of: string[] = []) => `${title}\n  ${of.join('\n  ')}`;
      t.comment(`${person}\n${lines('model', model.history(person))}\n${lines('sent', actual.get(person))}`);
    }
    t.equal(differing.length, 0, `${everybody.size} people, ${model.mails.length} mails`);
    t.ok(world.people() >= 10_000 / SHARE);
    t.ok(model.mails.length >= 20_000 / SHARE);

    const messages = new Map<string, Set<string>>();
    for (const { to, mailing, messageId } of relay.handed) {
      if (to === 'lark@example.com') continue;
      const ids = messages.get(`${mailing} ${to}`) ?? new Set();
      messages.set(`${mailing} ${to}`, ids.add(messageId));
    }
    t.equal(messages.size, accepted.length, 'what the ledger has accepted is what was handed over');
    t.ok(
      [...messages.values()].every((ids) => ids.size === 1 && !ids.has('')),
      'again only under the same Message-ID',
    );
    const again = relay.handed.length - messages.size;
    t.comment(`${again} handed over again after the kills`);
    t.ok(again <= 200, 'and only what was in flight or unrecorded at a kill');
  },
);
