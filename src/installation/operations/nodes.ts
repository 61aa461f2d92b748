/** The sender nodes (additions), for operators: which there are, how they do and what is wrong with them. */
import Type, { type Static } from 'typebox';
import { NODE_STATES } from '../../database/schema/index.ts';
import { mailWaitsReason } from '../../delivery/queue/sending-hold.ts';
import { listSenderNodes, type SenderNode } from '../../delivery/reporting/sender-nodes.ts';
import { choice, integer, isoTimestampSchema, nullable, zeroOrOne } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { VERSION } from '../../version.ts';

const WarmUp = Type.Object({
  ceiling: integer({ description: 'The most that it may be given today.' }),
  given: integer({ description: 'Recipients it was given today, without those it gave back.' }),
});

const Node = Type.Object({
  run: Type.String({ description: 'Another one each time the node is started.' }),
  name: Type.String({ description: 'Its NODE_NAME, or the name of its machine.' }),
  version: Type.String({ description: 'Its release.' }),
  state: {
    ...choice(...NODE_STATES),
    description:
      'sending: takes mail; waiting: is there but takes none yet, or is of a release that is not understood; draining: was told to end and finishes what is in flight; refused: its relays take no mail from it; silent: was not heard of for longer than its lease.',
  },
  refusal: nullable(Type.String(), 'What its relays answered, where they take no mail from it.'),
  rate: integer({ description: 'Mails that its relays took in the last second.' }),
  recipients: integer({ description: 'Recipients it has now.' }),
  room: integer({ description: 'How many more it takes now.' }),
  accepted: integer({ description: 'Mails that its relays took today, UTC.' }),
  deferred: integer({ description: 'Mails that its relays put off today, UTC.' }),
  refused: integer({ description: 'Mails that its relays refused today for good, UTC.' }),
  warm_up: nullable(WarmUp, 'Its warm-up; null where it has none.'),
  heard_at: isoTimestampSchema('When it was last heard, UTC.'),
  lease_until: nullable(
    isoTimestampSchema(),
    'Until when it may begin mails, UTC; each sign of life prolongs it. Null where it may not.',
  ),
});

const Fleet = Type.Object(
  {
    is_used: zeroOrOne('1: campaign mail leaves from sender nodes, since NATS_URL is set.'),
    version: Type.String({ description: 'The release of the service.' }),
    waits_reason: nullable(Type.String(), 'Why mail waits for a node; null when it leaves.'),
  },
  { description: 'What holds for all of them.' },
);

export type Node = Static<typeof Node>;
export type Fleet = Static<typeof Fleet>;

export const listNodes = operation({
  name: 'List the sender nodes with state, rate, counts and last sign of life (addition)',
  description: 'By name. One that says good-bye leaves the list; one that falls silent stays in it for a week.',
  role: 'owner',
  isForOperators: true,
  input: Type.Object({}),
  output: Type.Object({ nodes: Type.Array(Node, { description: 'The nodes.' }), fleet: Fleet }),
  run({ db, config, clock }): { nodes: Node[]; fleet: Fleet } {
    const isUsed = config.NATS_URL.length > 0;
    const now = clock.now().getTime();
    return {
      nodes: isUsed ? listSenderNodes(db.$client, now).map((node) => recordOf(node, now)) : [],
      fleet: { is_used: isUsed ? 1 : 0, version: VERSION, waits_reason: mailWaitsReason(db.$client) },
    };
  },
});

/** A node as the API shows it at `now`, epoch milliseconds. */
export function recordOf(node: SenderNode, now: number): Node {
  const { run, name, version, state, refusal, rate, capacity, load, heard_at, lease_until } = node;
  const { ceiling, given, accepted, deferred, refused } = node;
  const left = ceiling === null ? Number.POSITIVE_INFINITY : Math.max(0, ceiling - given);
  return {
    run,
    name,
    version,
    state,
    refusal: refusal || null,
    rate,
    recipients: load,
    room: state === 'sending' ? Math.max(0, Math.min(capacity - load, left)) : 0,
    accepted,
    deferred,
    refused,
    warm_up: ceiling === null ? null : { ceiling, given },
    heard_at: isoTimestamp(new Date(heard_at)),
    lease_until: lease_until > now ? isoTimestamp(new Date(lease_until)) : null,
  };
}
