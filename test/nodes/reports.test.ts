/** What the service makes of reports in the stream, without NATS. */
import t, { type Test } from 'tap';
import { erasePerson } from '../../src/audience/person/erase.ts';
import { DELIVERY_STATE } from '../../src/database/schema/index.ts';
import { enqueueRecipients } from '../../src/delivery/queue/enqueue-recipients.ts';
import { refusedMessages } from '../../src/delivery/reporting/refused-messages.ts';
import { sentence } from '../../src/errors/sentences.ts';
import { stored } from '../../src/errors/stored.ts';
import { Contents } from '../../src/nodes/controller/contents.ts';
import { DeliveryProofs } from '../../src/nodes/controller/delivery-proofs.ts';
import { NodeHandoffs } from '../../src/nodes/controller/node-handoffs.ts';
import { PageSender } from '../../src/nodes/controller/page-sender.ts';
import { readBeat, readReport } from '../../src/nodes/controller/read-messages.ts';
import { decodeConsent } from '../../src/nodes/feedback-messages.ts';
import { endedAs, outcomeOf, type Report } from '../../src/nodes/protocol.ts';
import { systemClock } from '../../src/time/clock.ts';
import { COMMAND_LINE } from '../../src/users/audit.ts';
import { ACCEPTED, launch, Relay } from '../support/launched-mailing.ts';

async function opened(t: Test, people: number) {
  const { db, rows } = await launch(t, people, new Relay(() => ACCEPTED));
  while (await enqueueRecipients(db.$client, 1));
  const contents = new Contents('ours.2', () => '');
  const handoffs = new NodeHandoffs({
    client: db.$client,
    newName: () => 'ours.2',
    now: () => new Date(0),
    monotonic: () => 0,
    contents,
    sender: new PageSender(contents),
    settings: () => '',
    onGone: () => undefined,
    mayLeave: () => true,
    onOutcome: () => t.fail('nobody is on a page'),
    log: () => undefined,
  });
  let sequence = 0;
  /** Takes a report of the node `node`, and records it. */
  const take = (report: Report | null) => {
    handoffs.take(report, { stream: 'made', sequence: ++sequence }, 'node');
    db.$client.transaction(() => handoffs.record(1)).immediate();
    handoffs.recorded();
  };
  const accepted = (brain: string, id = 0, proof?: string, page = 7): Report => ({
    protocol: 1,
    run: 'node.run',
    brain,
    ended: [[page, [endedAs(id, ACCEPTED, proof)]]],
  });
  const states = () => rows().map(({ state }) => state);
  const proofs = new DeliveryProofs(db.$client);
  return { db, client: db.$client, take, accepted, states, proofs, ids: rows().map(({ id }) => id) };
}

const { queued, accepted: taken } = DELIVERY_STATE;

t.test('reports of another installation on the same NATS change nothing, those of an earlier run do', async (t) => {
  const { take, accepted, states, proofs, ids } = await opened(t, 2);
  const [first = 0, second = 0] = ids;
  take(accepted('other.1', first, proofs.make('node', first)));
  take(accepted('ours.1', second, proofs.make('node', second)));
  t.strictSame(states(), [queued, taken]);
});

t.test('a late result counts only with the proof that this node had this delivery', async (t) => {
  const { client, take, accepted, states, proofs, ids } = await opened(t, 3);
  const [first = 0, second = 0, third = 0] = ids;
  const wrong = [undefined, '', 'a'.repeat(16), proofs.make('other', first), proofs.make('node', second)];
  for (const proof of wrong) take(accepted('ours.1', first, proof));
  t.strictSame(states(), [queued, queued, queued]);
  t.match(refusedMessages(client), { report: 0, result: wrong.length });
  take({ protocol: 1, run: 'node.run', brain: 'ours.1', ended: [[7, [[second]]]] });
  t.match(refusedMessages(client), { result: wrong.length }, 'what is given back late is no fault');
  take(accepted('ours.1', third, proofs.make('node', third), 987_654));
  t.strictSame(states(), [queued, queued, taken]);
});

t.test('what a server said to the late mail of an erased person is not stored', async (t) => {
  const { db, client, take, accepted, states, proofs, ids } = await opened(t, 2);
  const address = client.prepare<[], number>('SELECT address_id FROM deliveries ORDER BY id').pluck().get() ?? 0;
  await erasePerson(db, systemClock, 1, address, COMMAND_LINE);
  for (const id of ids) take(accepted('ours.1', id, proofs.make('node', id)));
  t.strictSame(states(), [taken, taken]);
  const replies = client.prepare('SELECT reply FROM deliveries ORDER BY id').pluck().all();
  t.strictSame(replies, [null, ACCEPTED.reply]);
});

t.test('a report is read whole or not at all', async (t) => {
  const good = { protocol: 1, run: 'n.1', brain: 'b.1', ended: [[7, [[1, 'accepted', 'body', 250, null, 'x', 'p']]]] };
  const read = (value: unknown) => readReport(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
  t.strictSame(read(good), good);
  t.strictSame(read({ ...good, ended: [], has: [[7, [1, 2]]], isLast: true })?.has, [[7, [1, 2]]]);
  const ended = (one: unknown) => ({ ...good, ended: [[7, [one]]] });
  const sent = (...given: unknown[]) => ended([1, 'accepted', 'body', 250, null, 'x', 'p', given]);
  const digest = '0123456789abcdef'.repeat(4);
  t.strictSame(read(sent(5, digest)), sent(5, digest));
  const malformed: unknown[] = [
    ...['', 'null', '[]', '{', '7', '"x"', '{}', '\u0000'],
    ...[null, 1, {}, 'x', ['x'.repeat(300)]].flatMap((wrong) => [
      { ...good, run: wrong === 'x' ? 'x'.repeat(300) : wrong },
      { ...good, brain: wrong === 'x' ? 'x'.repeat(300) : wrong },
      { ...good, ended: wrong },
      { ...good, ended: [wrong] },
      { ...good, has: wrong },
      { ...good, isLast: wrong },
      ended(wrong),
    ]),
    { ...good, ended: [['7', []]] },
    { ...good, ended: [[1.5, []]] },
    {
      ...good,
      ended: [
        [7, []],
        [-1, []],
      ],
    },
    ...[{ a: 1 }, null, -1, 0, 1.5, 2 ** 53, '1', [1], true].map((id) =>
      ended([id, 'accepted', 'body', 250, null, 'x']),
    ),
    ended([1, 'accepted', 'body', '250', null, 'x']),
    ended([1, 'accepted', 'body', 1e9, null, 'x']),
    ended([1, 'accepted', 'body', 250, 5, 'x']),
    ended([1, 'accepted', 'body', 250, '5.1.1; x', 'x']),
    ended([1, 'accepted', 'body', 250, null, { toString: 1 }]),
    ended([1, 'accepted', 'body', 250, null, 'x'.repeat(10_000)]),
    ended([1, { toString: 1 }, 'body', 250, null, 'x']),
    ended([1, 'accepted', null, 250, null, 'x']),
    ended([1, 'accepted', 'body', 250, null, 'x', { length: 16 }]),
    ended([1, 'accepted']),
    ended([1, 'accepted', 'body', 250, null, 'x', 'p', 'sent']),
    ...[[], [5], [5, digest, 1], [-1, digest], ['5', digest], [5, digest.toUpperCase()], [5, `${digest}0`]].map((one) =>
      sent(...one),
    ),
    { ...good, ended: [[7, Array.from({ length: 1001 }, (_, at) => [at + 1])]] },
    { ...good, has: [[7, ['1']]] },
    `${'['.repeat(200_000)}${']'.repeat(200_000)}`,
    JSON.stringify({ ...good, more: 'x'.repeat(2_000_000) }),
  ];
  for (const one of malformed) t.equal(read(one), null, String(JSON.stringify(one)).slice(0, 80));
});

t.test('a node cannot have the service say what it chooses, nor break a line with it', (t) => {
  const replyOf = (reply: string) => {
    const outcome = outcomeOf([1, 'refused', 'data', 554, null, reply]);
    return outcome === 'withdrawn' ? outcome : stored(outcome.reply);
  };
  t.equal(replyOf(':not_built'), ':not_built');
  t.equal(replyOf(stored(sentence('merged_too_large', { size: 2 }))), ':merged_too_large{"size":2}');
  t.equal(replyOf(stored('550 a\u001b[2Jb')), '550 a [2Jb');
  t.equal(
    replyOf(':merged_too_large{"size":"2\\u001b[2J\\u202e\\n"}'),
    ':merged_too_large{"size":"2 [2J "}',
    'control characters that JSON escapes',
  );
  for (const forged of [
    ':held_restored',
    ':given_up{"reply":"x"}',
    ':nothing',
    ':not_built{',
    ':not_built{"a":{}}',
    ':',
  ])
    t.equal(replyOf(forged), `:${forged}`, `${forged} is a text of others`);
  const consent = (diagnostic: string) =>
    decodeConsent(
      JSON.stringify({
        token: 'x',
        email: 'a@example.org',
        list: -1,
        isLeft: true,
        at: 0,
        change: { run: 'x', source: 'api', suppression: { kind: 'bounce', diagnostic } },
      }),
    )?.change?.suppression?.diagnostic;
  t.equal(consent(stored('550 <a@b>\u001b[2J')), '550 ‹a@b› [2J');
  t.equal(
    consent(':returned{"cause":":cause_full","reply":"552\\u001b[2J\\u202e <b>"}'),
    ':returned{"cause":":cause_full","reply":"552 [2J ‹b›"}',
  );
  t.equal(consent(`:returned{"reply":"${'x'.repeat(100_000)}"}`)?.length, 501, 'and not without end');
  t.end();
});

t.test('a sign of life is read whole or not at all, and only in the name of its node', async (t) => {
  const good = {
    protocol: 1,
    version: '1',
    run: 'north.1',
    name: 'north',
    brain: '',
    capacity: 200,
    rate: 1.5,
    refusal: '',
    withdrawn: [1],
    relays: [{ id: 1, capacity: 5, refusal: '' }],
    warmUp: 0,
    isEnding: false,
  };
  const read = (value: unknown) => readBeat(Buffer.from(JSON.stringify(value)), 'north');
  t.strictSame(read(good), good);
  const malformed = [
    ...Object.keys(good).flatMap((name) => [null, {}, [{}], -1, ['x']].map((wrong) => ({ ...good, [name]: wrong }))),
    { ...good, run: 'south.1' },
    { ...good, name: 'south' },
    { ...good, run: 'north' },
    null,
    [],
  ];
  for (const one of malformed) t.equal(read(one), null, JSON.stringify(one));
});
