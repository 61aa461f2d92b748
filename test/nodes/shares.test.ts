/** Rates that hold for the whole fleet, and the warm-up of each node: the service with nodes that take and report what it gives them. */
import t, { type Test } from 'tap';
import { readConfig } from '../../src/config.ts';
import { openTokens } from '../../src/delivery/links/tokens.ts';
import { Contents } from '../../src/nodes/controller/contents.ts';
import { ceilingAfter } from '../../src/nodes/controller/node-days.ts';
import { NodeHandoffs } from '../../src/nodes/controller/node-handoffs.ts';
import { PageSender } from '../../src/nodes/controller/page-sender.ts';
import { type Beat, type Ended, PROTOCOL } from '../../src/nodes/protocol.ts';
import { Background } from '../../src/threads/background.ts';
import { DAY_MS } from '../../src/units.ts';
import { ACCEPTED, launch, Relay } from '../support/launched-mailing.ts';

/** The name of the node in the name of its run. */
const nameOf = (run: string) => run.slice(0, run.indexOf('.'));

/** Keeps pages instead of sending them. */
class Kept extends PageSender {
  readonly pages: { run: string; id: number; deliveries: number[] }[] = [];

  override send(...[run, , { id }, , claims]: Parameters<PageSender['send']>): void {
    this.pages.push({ run, id, deliveries: claims.map((claim) => claim.id) });
  }
}

/** The service with a mailing to so many people, whose nodes are told here what to say. */
async function startService(t: Test, people: number, settings: Record<string, string> = {}) {
  const { db, clock, rows, mailing } = await launch(t, people, new Relay(() => ACCEPTED));
  const contents = new Contents('ours', () => '');
  const sender = new Kept(contents);
  let run = 0;
  let sequence = 0;
  const begin = () => {
    const brain = `ours.${++run}`;
    let handoffs: NodeHandoffs | undefined;
    const background = new Background({
      db,
      config: readConfig(settings),
      clock,
      courier: new Relay(() => ACCEPTED),
      openNodes: (deps) => {
        handoffs = new NodeHandoffs({
          ...deps,
          client: db.$client,
          newName: () => brain,
          now: () => clock.now(),
          monotonic: () => clock.monotonic(),
          contents,
          sender,
          settings: () => '',
          onGone: () => undefined,
        });
        return handoffs;
      },
      tokens: openTokens(db.$client),
      publicUrl: () => 'http://localhost',
      log: () => undefined,
    });
    if (handoffs === undefined) throw new Error('no hand-offs were opened');
    handoffs.begin();
    return { brain, background, handoffs };
  };
  let current = begin();
  t.teardown(() => current.background.close(0));
  const report = (run: string, ended: [number, Ended[]][], has?: []) =>
    current.handoffs.take(
      { protocol: PROTOCOL, run, brain: current.brain, ended, ...(has && { has }) },
      { stream: 'made', sequence: ++sequence },
      nameOf(run),
    );
  /** A sign of life of a node. */
  const beat = (name: string, says: Partial<Beat> = {}) => {
    const beat: Beat = {
      protocol: PROTOCOL,
      version: '1.0.0',
      run: `${name}.1`,
      name,
      brain: current.brain,
      capacity: 1000,
      rate: 0,
      refusal: '',
      withdrawn: [],
      ...says,
    };
    current.handoffs.beat({ ...beat, brain: '' });
    report(beat.run, [], []);
    current.handoffs.beat(beat);
  };
  const end = (kind: 'accepted' | 'withdrawn') => {
    for (const { run, id, deliveries } of sender.pages.splice(0)) {
      const ended = deliveries.map(
        (delivery): Ended =>
          kind === 'withdrawn' ? [delivery] : [delivery, 'accepted', 'body', 250, null, '250 taken'],
      );
      report(run, [[id, ended]]);
    }
  };
  /** How many recipients each node has that were not reported. */
  const given = () => {
    const counts: Record<string, number> = {};
    for (const { run, deliveries } of sender.pages)
      counts[nameOf(run)] = (counts[nameOf(run)] ?? 0) + deliveries.length;
    return counts;
  };
  return {
    db,
    clock,
    rows,
    beat,
    given,
    accept: () => end('accepted'),
    giveBack: () => end('withdrawn'),
    /** Enqueues all recipients, and gives the nodes what they may have. */
    steps: async () => {
      while (mailing().state !== 'sending') await current.background.step();
      for (let at = 0; at < 3; at++) await current.background.step();
    },
    restart: async () => {
      await current.background.close(0);
      current = begin();
    },
  };
}

const total = (counts: Record<string, number>) => Object.values(counts).reduce((sum, count) => sum + count, 0);

t.test('two nodes together keep SEND_RATE', async (t) => {
  const service = await startService(t, 1000, { SEND_RATE: '250' });
  for (const name of ['north', 'south']) service.beat(name);
  await service.steps();
  t.equal(total(service.given()), 250);
  t.equal(Object.keys(service.given()).length, 2, 'both have a share');
  service.accept();
  await service.steps();
  t.equal(total(service.given()), 0, 'more room is no more rate');
  service.clock.advance(1000);
  for (const name of ['north', 'south']) service.beat(name);
  await service.steps();
  t.equal(total(service.given()), 250);
});

t.test('two nodes together keep SEND_RATE_PER_DOMAIN', async (t) => {
  const service = await startService(t, 100, { SEND_RATE_PER_DOMAIN: '5' });
  for (const name of ['north', 'south']) service.beat(name);
  await service.steps();
  const domains = service.db.$client
    .prepare(
      `SELECT max(n) FROM (SELECT count(*) AS n FROM deliveries d JOIN addresses a ON a.id = d.address_id WHERE d.state = 1
       GROUP BY substr(normalized_email, instr(normalized_email, '@')))`,
    )
    .pluck()
    .get();
  t.ok(Number(domains) > 0 && Number(domains) <= 5, `${domains} mails to one domain at once`);
});

t.test(
  'a node in its warm-up gets no more than its ceiling of the day, also after a restart; the others get the rest',
  async (t) => {
    const service = await startService(t, 300);
    service.beat('new', { warmUp: 20 });
    await service.steps();
    t.strictSame(service.given(), { new: 20 });
    service.accept();
    await service.steps();
    t.strictSame(service.given(), {}, 'nothing more today');
    await service.restart();
    service.beat('new', { warmUp: 20 });
    await service.steps();
    t.strictSame(service.given(), {}, 'a restart changes nothing');
    service.beat('new', { warmUp: 20, run: 'new.2' });
    await service.steps();
    t.strictSame(service.given(), {}, 'nor does another run of the same name');
    service.beat('old', { capacity: 100 });
    await service.steps();
    t.strictSame(service.given(), { old: 100 });
    service.accept();
    service.clock.advance(DAY_MS);
    service.beat('new', { warmUp: 20 });
    await service.steps();
    t.strictSame(service.given(), { new: 30 }, 'the next day half as much again');
  },
);

t.test('what a node gives back leaves room in its warm-up', async (t) => {
  const service = await startService(t, 300);
  service.beat('new', { warmUp: 20 });
  await service.steps();
  service.giveBack();
  await service.steps();
  t.strictSame(service.given(), { new: 20 });
  service.accept();
  await service.steps();
  const day = service.db.$client.prepare('SELECT ceiling, given, accepted FROM node_days').all();
  t.strictSame(day, [{ ceiling: 20, given: 20, accepted: 20 }]);
});

t.test('a ceiling grows by half after a day on which at least half of it was used', async (t) => {
  t.equal(ceilingAfter(50, null), 50);
  t.equal(ceilingAfter(50, { ceiling: 50, given: 25 }), 75);
  t.equal(ceilingAfter(50, { ceiling: 75, given: 37 }), 75);
  t.equal(ceilingAfter(50, { ceiling: 75, given: 75 }), 113);
  t.equal(ceilingAfter(200, { ceiling: 75, given: 75 }), 200, 'a higher WARM_UP holds at once');
  let ceiling = 50;
  for (let day = 1; day < 30; day++) ceiling = ceilingAfter(50, { ceiling, given: ceiling });
  t.ok(ceiling > 6_000_000, `${ceiling} a day after a month`);
});
