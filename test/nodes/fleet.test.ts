/** Which node gets how much, and when one is given up, without NATS. */
import t from 'tap';
import { Fleet } from '../../src/nodes/controller/fleet.ts';
import { answerBeat } from '../../src/nodes/controller/node-handoffs.ts';
import { LOST_AFTER_MS, SilentNodes } from '../../src/nodes/controller/silent-nodes.ts';
import { Withdrawals } from '../../src/nodes/controller/withdrawals.ts';
import type { Beat } from '../../src/nodes/protocol.ts';

function beat(run: string, given: Partial<Beat> = {}): Beat {
  return {
    protocol: 1,
    version: '',
    run,
    name: run,
    brain: '',
    capacity: 200,
    rate: 0,
    refusal: '',
    withdrawn: [],
    ...given,
  };
}

function fleetOf(...beats: Beat[]) {
  let now = 0;
  const fleet = new Fleet(() => now, { remainingToday: () => Number.POSITIVE_INFINITY, countEnd: () => undefined });
  for (const one of beats) {
    fleet.addUnknown(one);
    const node = fleet.find(one.run);
    if (node === undefined) throw new Error('no node');
    node.isKnown = true;
    fleet.renew(node);
  }
  const advance = (ms: number) => {
    now += ms;
  };
  return { fleet, advance };
}

const at = (sequence: number) => ({ stream: 's', sequence });

t.test('mail that waits for one relay takes no room from mail for others', async (t) => {
  const relays = [
    { id: 1, capacity: 200, refusal: '' },
    { id: 2, capacity: 50, refusal: '' },
  ];
  const { fleet } = fleetOf(beat('a', { relays }));
  fleet.addLoad('a', 1, 200);
  t.equal(fleet.room(1), 0);
  t.equal(fleet.room(2), 50);
  t.equal(fleet.room(null), 200);
  t.equal(fleet.room(3), 0, 'a node that does not know a relay yet gets nothing for it');
  fleet.addLoad('a', null, 150);
  t.equal(fleet.room(null), 50);
});

t.test('a node with its own relays takes mail for whichever relay', async (t) => {
  const { fleet } = fleetOf(beat('a'));
  fleet.addLoad('a', 7, 120);
  t.equal(fleet.room(7), 80);
  t.equal(fleet.room(null), 80);
});

t.test('a relay that refuses one node is tried by another, and that node goes on with other relays', async (t) => {
  const relays = () => [
    { id: 1, capacity: 200, refusal: '' },
    { id: 2, capacity: 200, refusal: '' },
  ];
  const { fleet } = fleetOf(beat('a', { relays: relays() }), beat('b', { relays: relays() }));
  const refused = { kind: 'deferred', stage: 'connect', code: 0, enhanced: null, reply: 'no connection' } as const;
  t.equal(fleet.judge('a', 1, refused), 'withdrawn');
  t.equal(fleet.leastLoaded(1, () => 0)?.run, 'b');
  t.equal(fleet.room(2), 400);
  t.equal(fleet.judge('b', 1, refused), refused, 'where no node can try, it counts');
});

t.test('a silent node is given up once what it had reported by then is taken', async (t) => {
  const { fleet, advance } = fleetOf(beat('a'));
  const silent = new SilentNodes(fleet);
  advance(LOST_AFTER_MS - 1);
  t.same(silent.runs, []);
  advance(1);
  t.same(silent.runs, ['a']);
  t.same(silent.due(['a'], at(5), at(4)), []);
  t.same(silent.due([], at(9), at(5)), [], 'only those who were silent when NATS was asked');
  t.same(
    silent.due(['a'], at(9), at(5)).map(({ run }) => run),
    ['a'],
    'not what others report meanwhile',
  );
  fleet.recordHeartbeat(beat('a'));
  t.same(silent.due(['a'], at(9), at(5)), [], 'a node that is heard again keeps what it has');
});

t.test('at the limit of runs, those that are known are answered, and no other run of that node', async (t) => {
  const { fleet, advance } = fleetOf();
  const told = { send: () => undefined, onConfirmed: () => undefined };
  const withdrawals = new Withdrawals(new Map(), fleet, told);
  const answer = (run: string, brain = 'ours') =>
    answerBeat(beat(run, { name: run.slice(0, run.indexOf('.')), brain }), {
      ...{ fleet, withdrawals, controllerRun: 'ours' },
      settings: () => '',
    });
  const runs = Array.from({ length: 20 }, (_, at) => `north.${at}`);
  for (const run of runs) t.match(answer(run, ''), { brain: 'ours', isRenewed: false }, run);
  for (const node of fleet.all) node.isKnown = true;
  t.equal(answer('north.more', ''), null);
  for (const run of runs) t.match(answer(run), { isRenewed: true, isLost: false }, `${run} goes on`);
  t.match(answer(runs[3] ?? '', 'before'), { brain: 'ours' }, 'a known one learns of another run of the service');
  t.match(answer('south.1', ''), { brain: 'ours' }, 'other nodes are not counted');
  advance(LOST_AFTER_MS);
  for (const { run } of new SilentNodes(fleet).due(runs.slice(0, 1), at(1), at(1))) fleet.remove(run);
  t.match(answer('north.more', ''), { brain: 'ours' }, 'there is room where one was given up');
});
