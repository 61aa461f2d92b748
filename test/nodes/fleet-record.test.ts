/** What the service writes down of its nodes, and when it says that mail waits. */
import t, { type Test } from 'tap';
import { mailWaitsReason } from '../../src/delivery/queue/holds.ts';
import { listSenderNodes } from '../../src/delivery/reporting/sender-nodes.ts';
import { SENTENCES } from '../../src/errors/sentences.ts';
import { Fleet, type FleetNode } from '../../src/nodes/controller/fleet.ts';
import { FleetRecord } from '../../src/nodes/controller/fleet-record.ts';
import { PROTOCOL } from '../../src/nodes/protocol.ts';
import { startApp } from '../support/app.ts';

const NODE: FleetNode = {
  run: 'run 1',
  name: 'north',
  version: '1.0.0',
  protocol: PROTOCOL,
  warmUp: 0,
  isEnding: false,
  capacity: 200,
  rate: 10,
  refusal: '',
  relays: undefined,
  load: 20,
  loads: new Map(),
  heardAt: 0,
  renewedAt: 0,
  isKnown: true,
  withdrawals: [],
};

async function open(t: Test) {
  const { db, clock } = await startApp(t);
  const warnings: string[] = [];
  let left = Number.POSITIVE_INFINITY;
  const record = new FleetRecord({
    client: db,
    now: () => clock.now().getTime(),
    monotonic: () => clock.monotonic(),
    remainingToday: () => left,
    // Fields reach the log as a message from a thread.
    log: (fields, text, level = 'info') =>
      warnings.push(`${level}: ${text} ${JSON.stringify(structuredClone(fields))}`),
  });
  const states = () => listSenderNodes(db, clock.now().getTime()).map(({ run, state }) => [run, state]);
  const leave = (count: number) => {
    left = count;
  };
  return {
    record,
    clock,
    states,
    leave,
    warnings,
    reason: () => mailWaitsReason(db)?.toString() ?? null,
    list: () => listSenderNodes(db, clock.now().getTime()),
  };
}

t.test(
  'a node is written down with its state, at once when that changes, and removed when it says good-bye',
  async (t) => {
    const { record, clock, states } = await open(t);
    const node = { ...NODE };
    record.update([node], true);
    t.strictSame(states(), [['run 1', 'sending']]);
    for (const [change, state] of [
      [{ refusal: '550 listed' }, 'refused'],
      [{ isEnding: true }, 'draining'],
      [{ isEnding: false, refusal: '', isKnown: false }, 'waiting'],
      [{ isKnown: true }, 'sending'],
    ] as const) {
      record.update([Object.assign(node, change)], true);
      t.strictSame(states(), [['run 1', state]]);
    }
    clock.advance(7000);
    record.update([node], true);
    t.strictSame(states(), [['run 1', 'silent']], 'its lease has run out');
    record.update([{ ...NODE, run: 'run 2', heardAt: clock.monotonic() }], true);
    t.strictSame(states(), [['run 2', 'sending']], 'one of its name is back');
    record.remove('run 2');
    t.strictSame(states(), []);
  },
);

t.test(
  'mail is said to wait when no node can take it, and no longer once one can; the first is a warning with the reason in words',
  async (t) => {
    const { record, clock, leave, warnings, reason } = await open(t);
    const look = (nodes: FleetNode[], isConnected = true) => {
      for (const node of nodes) node.heardAt = clock.monotonic();
      record.update(nodes, isConnected);
      return reason();
    };
    t.equal(look([]), null, 'not at once: a node may be about to come');
    clock.advance(3000);
    t.equal(look([]), SENTENCES.waits_no_node);
    t.equal(look([{ ...NODE }]), null);
    clock.advance(3000);
    t.equal(look([{ ...NODE, isEnding: true }]), null);
    clock.advance(3000);
    t.equal(look([{ ...NODE, isEnding: true }]), SENTENCES.waits_no_node);
    t.equal(look([{ ...NODE }], false), SENTENCES.waits_nats, 'another reason is told at once');
    t.equal(look([{ ...NODE, refusal: '550 listed' }]), SENTENCES.waits_refused);
    t.equal(look([{ ...NODE, protocol: PROTOCOL + 100 }]), SENTENCES.waits_release);
    leave(0);
    t.equal(look([{ ...NODE }]), SENTENCES.waits_warm_up);
    leave(1);
    t.equal(look([{ ...NODE }]), null);
    t.equal(look([{ ...NODE }]), null);
    const waits = (reason: string) => `warn: mail waits ${JSON.stringify({ reason })}`;
    t.strictSame(warnings, [
      waits(SENTENCES.waits_no_node),
      'info: mail leaves again {}',
      waits(SENTENCES.waits_no_node),
      waits(SENTENCES.waits_nats),
      waits(SENTENCES.waits_refused),
      waits(SENTENCES.waits_release),
      waits(SENTENCES.waits_warm_up),
      'info: mail leaves again {}',
    ]);
  },
);

t.test(
  'what a node says of itself is taken as text of a bounded length and as numbers, whatever it sends',
  async (t) => {
    const { record, list, clock } = await open(t);
    const fleet = new Fleet(() => clock.monotonic(), { remainingToday: () => 0, countEnd: () => undefined });
    const wrong = {
      run: 'run 1',
      name: {},
      version: 1,
      refusal: 'x'.repeat(100_000),
      rate: 'fast',
      capacity: -1,
      warmUp: null,
    };
    // A node of another release, or one that is wrong, may send anything.
    fleet.addUnknown(JSON.parse(JSON.stringify(wrong)));
    record.update(fleet.all, true);
    t.match(list(), [{ name: 'node', version: '', rate: 0, capacity: 0 }]);
    t.equal(list()[0]?.refusal.length, 500);
  },
);
