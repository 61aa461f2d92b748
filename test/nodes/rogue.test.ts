/**
 * A node in somebody else's hands: what it publishes with the rights of a node must neither stop the service nor count
 * for others' mails.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { fetch } from 'undici';
import { DELIVERY_STATE } from '../../src/database/schema/index.ts';
import { LOST_AFTER_MS } from '../../src/nodes/controller/silent-nodes.ts';
import { ALL_STREAMS, STREAM, SUBJECT } from '../../src/nodes/streams.ts';
import { ledgerProblems } from '../support/ledger-problems.ts';
import { skipWithout } from '../support/tools.ts';
import { RawNode } from './raw-node.ts';
import { FleetSend } from './rig.ts';

const skip = skipWithout('nats');

async function connected(t: Test, send: FleetSend, name: string): Promise<NatsConnection> {
  const connection = await connect({ servers: send.nats.urls, name });
  t.teardown(() => connection.close());
  return connection;
}

const readyz = async (send: FleetSend) => (await fetch(`${send.service.origin}/readyz`)).status;

/** How many messages of each kind `/metrics` says were refused. */
async function refused(send: FleetSend): Promise<Record<string, number>> {
  const text = await (await fetch(`${send.service.origin}/metrics`)).text();
  const found = [...text.matchAll(/node_messages_refused_total\{kind="(\w+)"\} (\d+)/g)];
  return Object.fromEntries(found.map(([, kind = '', count]) => [kind, Number(count)]));
}

const stateCount = (send: FleetSend, state: number) =>
  Number(send.read(`SELECT count(*) AS n FROM deliveries WHERE state = ${state}`).n);

let idle: Promise<FleetSend> | undefined;
/** A service that runs without nodes, of which no test expects that nothing was refused. */
function idleSend(): Promise<FleetSend> {
  idle ??= (async () => {
    const send = await FleetSend.prepare(t, { people: 1, rate: 0, nodes: 0 });
    await send.start();
    return send;
  })();
  return idle;
}

/** An outcome of a delivery that no relay gave. */
const lie = (id: unknown, ...rest: unknown[]) => [id, 'accepted', 'body', 250, null, 'x', ...rest];

t.test('no message of a node stops the service, now or after a restart', { skip }, async (t) => {
  const send = await FleetSend.prepare(t, { people: 400, rate: 60, nodes: 1 });
  await send.start();
  await send.until(async () => (await send.taken()) > 20);
  const connection = await connected(t, send, 'rogue');
  const rogue = new RawNode(connection, 'rogue');
  rogue.brain = (await rogue.beat({ capacity: 0 })).brain;
  const good = { protocol: 1, run: rogue.run, brain: rogue.brain };
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const reports: unknown[] = [
    { ...good, ended: [[987_654, [lie({ a: 1 })]]] },
    { ...good, ended: [[987_654, [lie(null), lie('1'), lie([1]), lie(1.5), lie(-1), lie(2 ** 60)]]] },
    { ...good, ended: [[987_654, [[1, 'accepted', 'body', 250, null, { toString: 1 }]]]] },
    { ...good, ended: [[987_654, [[1, 'accepted', 'body', 250, { a: 1 }, 'x']]]] },
    { ...good, ended: [[987_654, [[1, { toString: null }, 'body', 250, null, 'x']]]] },
    { ...good, ended: [[987_654, null]] },
    { ...good, ended: [null, 1, 'x'] },
    { ...good, ended: { length: 1 } },
    { ...good, ended: [[{}, [lie(1)]]] },
    { ...good, ended: Array.from({ length: 3000 }, (_, at) => [at, [lie(at)]]) },
    { ...good, ended: [], has: [[1, null]] },
    { ...good, ended: [], has: { 1: 2 } },
    { ...good, ended: [], isLast: 'yes' },
    { ...good, brain: { split: 1 }, ended: [] },
    { ...good, run: 5, ended: [] },
    { ...good, ended: [[987_654, [lie(1, 'x'.repeat(100_000))]]] },
    null,
    [],
    'x',
    deep,
    'not json',
    '',
  ];
  const client = jetstream(connection);
  const publish = (subject: string, value: unknown) =>
    client.publish(subject, typeof value === 'string' ? value : JSON.stringify(value));
  for (const report of reports) await publish('sendlark.results.rogue', report);
  const hits = [
    [[1, 1, 1, null, 1e300, true]],
    [[1, 1, 1, null, 9e15, true]],
    [[{}, 1, 1, null, 1, true]],
    [[1]],
    {},
    deep,
  ];
  for (const one of [...hits, Array.from({ length: 5000 }, () => [1, 1, 1, null, 1, false])])
    await publish('sendlark.hits', one);
  const choice = { token: 'x', email: 'a@example.org', list: 0, isLeft: true, at: 1, form: 'none' };
  const choices = [
    choice,
    { ...choice, at: 8.64e15 + 1 },
    { ...choice, email: { toString: 1 } },
    { ...choice, list: -1, change: { run: 'x', suppression: { kind: 'bounce', diagnostic: { toString: 1 } } } },
    { ...choice, change: [] },
    'x',
    deep.slice(70_000, -70_000),
  ];
  for (const one of choices) await publish('sendlark.consents.1.person.0', one);
  await publish('sendlark.consents.1.person.erased', { address: 'x' });
  const beats: unknown[] = [null, [], 'x', deep, { ...good, run: 'node-0-1.x' }, { ...good, relays: { slice: 1 } }, ''];
  for (const one of beats)
    connection.publish('sendlark.brain.beat.rogue', typeof one === 'string' ? one : JSON.stringify(one));
  for (const subject of [
    'sendlark.ask.preferences',
    'sendlark.ask.mailing',
    'sendlark.ask.x',
    'sendlark.brain.content',
  ])
    for (const text of ['', 'null', '{"token":{"toString":1}}', '{"mailing":{}}', '{"name":{"toString":1}}', deep])
      connection.publish(subject, text);
  await connection.flush();

  const before = await send.taken();
  await send.until(async () => (await send.taken()) > before + 20);
  t.equal(await readyz(send), 200);
  await send.service.end('SIGTERM');
  await send.service.start();
  await send.until(() => send.isOver());
  t.same(
    ledgerProblems(400, (sql) => send.read(sql)),
    [],
  );
  t.equal(await send.taken(), 400, 'each got it once');
  t.equal(await readyz(send), 200);
  const counts = await refused(send);
  t.match(counts, { report: reports.length, result: 0, sign_of_life: beats.length, hits: hits.length + 1 });
  t.match(counts, { choice: choices.length + 1, question: 21 }, 'the counts outlive the service');
});

t.test('a refused message is counted exactly once, also when the service stops right after it', { skip }, async (t) => {
  const send = await FleetSend.prepare(t, { people: 1, rate: 0, nodes: 0 });
  await send.start();
  const connection = await connected(t, send, 'rogue');
  const rogue = new RawNode(connection, 'rogue');
  const ask = (text: string) => connection.request('sendlark.ask.link', text).catch(() => null);
  await send.until(async () => (await ask('{}')) !== null);
  for (let at = 0; at < 10; at++) await jetstream(connection).publish(SUBJECT.hits, 'malformed');
  const kept = () =>
    send.read(`SELECT (SELECT value ->> 'sequence' FROM installation WHERE name = 'applied_${STREAM.hits}') AS place,
      (SELECT value ->> 'hits' FROM installation WHERE name = 'refused_node_messages') AS hits`);
  await send.until(() => kept().place === 10);
  t.same(kept(), { place: 10, hits: 10 }, 'in the write that says how far they were taken');

  // Once one is answered, the service listens; the next is answered after the one before was refused.
  await rogue.beat({ capacity: 0 });
  connection.publish('sendlark.brain.beat.rogue', 'malformed');
  await rogue.beat({ capacity: 0 });
  await ask('malformed');
  await send.service.end('SIGTERM');
  const { counts } = send.read("SELECT value AS counts FROM installation WHERE name = 'refused_node_messages'");
  t.same(JSON.parse(String(counts)), { hits: 10, sign_of_life: 1, question: 1 });
});

t.test('a result counts only from the node that had the delivery, also after its page ended', { skip }, async (t) => {
  const send = await FleetSend.prepare(t, { people: 60, rate: 0, nodes: 0 });
  await send.start();
  const connection = await connected(t, send, 'nodes');
  const [north, south] = [new RawNode(connection, 'north'), new RawNode(connection, 'south')];
  south.brain = (await south.beat({ capacity: 0 })).brain;
  await send.until(() => stateCount(send, DELIVERY_STATE.queued) === 60);
  const everybody = Array.from({ length: 1000 }, (_, at) => lie(at + 1));
  await south.report({ ended: [[987_654, everybody] as never] });
  await send.until(async () => (await refused(send)).result === 1000);
  t.equal(stateCount(send, DELIVERY_STATE.queued), 60, 'an invented page');

  await north.greet();
  await send.until(async () => {
    await north.beat();
    return north.pages.length > 0;
  });
  const [page] = north.pages;
  if (page === undefined) throw new Error('no page came');
  const theirs = page.rows.map(([id], at) => lie(id, page.proofs?.[at]));
  const own = page.rows.map(([id]) => lie(id));
  await south.report({ run: north.run, isLast: true, has: [] });
  await south.report({ ended: [[page.id, theirs] as never] });
  await south.report({ ended: [[page.id, own] as never] });
  const count = 1000 + 2 * page.rows.length;
  await send.until(async () => (await refused(send)).result === count);
  t.equal(stateCount(send, DELIVERY_STATE.accepted), 0, 'the page of another node');
  t.equal(stateCount(send, DELIVERY_STATE.sending), page.rows.length, 'a good-bye in the name of another node');

  // Given up after its silence; what it had goes back.
  await pause(LOST_AFTER_MS);
  await send.until(() => stateCount(send, DELIVERY_STATE.queued) === 60);
  await north.report({ ended: [[page.id, own] as never] });
  await send.until(async () => (await refused(send)).result === count + own.length);
  t.equal(stateCount(send, DELIVERY_STATE.accepted), 0, 'after the page ended, without a proof');
  await north.report({ ended: [[page.id, theirs] as never] });
  await send.until(() => stateCount(send, DELIVERY_STATE.accepted) === theirs.length);
  t.equal(stateCount(send, DELIVERY_STATE.queued), 60 - theirs.length, 'what it had counts, and nothing else');
});

t.test('a node has a few runs at a time, so that nobody fills the list of nodes', { skip }, async (t) => {
  const send = await idleSend();
  const connection = await connected(t, send, 'north');
  const north = new RawNode(connection, 'north');
  await north.beat({ capacity: 0 });
  for (let run = 0; run < 200; run++)
    connection.publish(
      'sendlark.brain.beat.north',
      JSON.stringify({
        ...{ protocol: 1, version: '', brain: '', rate: 0, refusal: '', withdrawn: [] },
        run: `north.${run}`,
        name: 'north',
        capacity: 0,
      }),
    );
  await send.until(async () => ((await refused(send)).sign_of_life ?? 0) >= 180);
  await send.until(() => Number(send.read('SELECT count(*) AS n FROM sender_nodes').n) > 1);
  t.ok(Number(send.read('SELECT count(*) AS n FROM sender_nodes').n) <= 20);
});

t.test('whatever is deleted from NATS under a send is made again, and the send goes on', { skip }, async (t) => {
  const send = await FleetSend.prepare(t, { people: 900, rate: 30, nodes: 2 });
  await send.start();
  await send.until(async () => (await send.taken()) > 50);
  const manager = await jetstreamManager(await connected(t, send, 'admin'));
  const names = async () => {
    const found = await manager.streams.list().next();
    return found.map(({ config }) => config.name);
  };
  for (const gone of [STREAM.results, ...ALL_STREAMS]) {
    await manager.streams.delete(gone);
    await send.until(async () => (await names()).includes(gone));
    const before = await send.taken();
    await send.until(async () => (await send.taken()) > before + 20);
    t.equal(await readyz(send), 200, gone);
  }
  for await (const { name } of manager.consumers.list(STREAM.results))
    await manager.consumers.delete(STREAM.results, name);
  t.notOk(send.isOver(), 'the losses landed inside the send');
  await send.relay.pace(0);
  await send.until(() => send.isOver());
  t.same(
    ledgerProblems(900, (sql) => send.read(sql)),
    [],
  );
  const secrets = await manager.direct.getMessage('KV_SENDLARK_SECRETS', {
    last_by_subj: '$KV.SENDLARK_SECRETS.links',
  });
  t.ok(secrets?.string().includes('publicUrl'), 'nodes find the links of recipients again');
});

t.test('what keeps failing for the pages of nodes makes the service not ready, until it works', { skip }, async (t) => {
  const send = await idleSend();
  const change = (sql: string) => {
    const client = new Database(send.file);
    client.pragma('legacy_alter_table = ON');
    client.exec(sql);
    client.close();
  };
  const failing = async () => {
    const answer = await fetch(`${send.service.origin}/readyz`);
    const { failing: steps } = (await answer.json()) as { failing: string[] };
    return { status: answer.status, steps };
  };
  await send.until(
    () => send.read("SELECT 1 AS is_there FROM installation WHERE name = 'applied_SENDLARK_HITS'").is_there === 1,
  );
  change('ALTER TABLE unpublished_choices RENAME TO missing_choices');
  await send.until(async () => (await failing()).steps.length > 0);
  t.same(await failing(), { status: 503, steps: ['choices for NATS'] });
  change('ALTER TABLE missing_choices RENAME TO unpublished_choices');
  await send.until(async () => (await failing()).status === 200);
});
