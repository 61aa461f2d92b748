/** What the service makes of reports in the stream, without NATS. */
import t from 'tap';
import { DELIVERY_STATE } from '../../src/database/schema/index.ts';
import { enqueueRecipients } from '../../src/delivery/queue/enqueue-recipients.ts';
import { Contents } from '../../src/nodes/brain/contents.ts';
import { NodeHandoffs } from '../../src/nodes/brain/node-handoffs.ts';
import { PageSender } from '../../src/nodes/brain/page-sender.ts';
import type { Report } from '../../src/nodes/protocol.ts';
import { ACCEPTED, launch, Relay } from '../support/launched-mailing.ts';

t.test('reports of another installation on the same NATS change nothing, those of an earlier run do', async (t) => {
  const { db, rows } = await launch(t, 2, new Relay(() => ACCEPTED));
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
  const [first, second] = rows().map(({ id }) => id);
  const accepted = (brain: string, id = 0): Report => ({
    protocol: 1,
    run: 'node.run',
    brain,
    ended: [[7, [[id, 'accepted', 'body', 250, null, '250 taken']]]],
  });
  handoffs.take(accepted('other.1', first), { stream: 'made', sequence: 1 }, 'node');
  handoffs.take(accepted('ours.1', second), { stream: 'made', sequence: 2 }, 'node');
  handoffs.record(1);
  handoffs.recorded();
  t.strictSame(
    rows().map(({ state }) => state),
    [DELIVERY_STATE.queued, DELIVERY_STATE.accepted],
  );
});
