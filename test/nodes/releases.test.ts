/** A node and a service of releases beside each other, by the protocol numbers they say. */
import { connect } from '@nats-io/transport-node';
import t from 'tap';
import { startNats } from '../../fixtures/nats.ts';
import { type Beat, type BeatReply, CONTROLLER_SUBJECT, PROTOCOL } from '../../src/nodes/protocol.ts';
import { until } from '../support/service-campaign.ts';
import { skipWithout } from '../support/tools.ts';
import { NodeProcess } from './rig.ts';

t.test(
  'a node works for a service that is one release apart, and says why it waits for one that is further apart',
  { skip: skipWithout('nats') },
  async (t) => {
    const nats = await startNats(t);
    const connection = await connect({ servers: nats.urls });
    t.teardown(() => connection.close());
    let protocol = PROTOCOL + 2;
    connection.subscribe(`${CONTROLLER_SUBJECT.beat}.*`, {
      callback: (_error, message) => {
        const { brain } = message.json<Beat>();
        const reply: BeatReply = {
          protocol,
          brain: 'a.b',
          isRenewed: brain === 'a.b',
          isLost: false,
          withdraw: [],
          settings: '1',
        };
        message.respond(JSON.stringify(reply));
      },
    });
    const node = new NodeProcess(t, 'node', { NATS_URL: nats.urls });
    node.start();
    const said = (text: string, times: number) =>
      until(
        () => node.lines.filter((line) => line.includes(text)).length,
        (count) => count === times,
      );
    for (const [times, apart] of [
      [1, 1],
      [2, -1],
    ] as const) {
      protocol = PROTOCOL + 2 * apart;
      await said(`too far apart (protocol ${PROTOCOL} here, ${protocol} there)`, 1);
      protocol = PROTOCOL + apart;
      await said('this node sends', times);
    }
  },
);
