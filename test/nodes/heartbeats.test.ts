/** What a node's heartbeats say to the service. */
import { connect } from '@nats-io/transport-node';
import t from 'tap';
import { startNats } from '../../fixtures/nats.ts';
import { type Beat, type BeatReply, CONTROLLER_SUBJECT, PROTOCOL } from '../../src/nodes/protocol.ts';
import { until } from '../support/service-campaign.ts';
import { skipWithout } from '../support/tools.ts';
import { NodeProcess } from './rig.ts';

t.test(
  'a node confirms a withdrawal only to the run of the service that sent it',
  { skip: skipWithout('nats') },
  async (t) => {
    const nats = await startNats(t);
    const connection = await connect({ servers: nats.urls });
    t.teardown(() => connection.close());
    let brain = 'a.1';
    const beats: Beat[] = [];
    connection.subscribe(`${CONTROLLER_SUBJECT.beat}.*`, {
      callback: (_error, message) => {
        const beat = message.json<Beat>();
        beats.push(beat);
        const isOurs = beat.brain === brain;
        const withdraw = isOurs && brain === 'a.1' ? [{ number: 1, upTo: 1 }] : [];
        const reply: BeatReply = {
          protocol: PROTOCOL,
          brain,
          isRenewed: isOurs,
          isLost: false,
          withdraw,
          settings: '1',
        };
        message.respond(JSON.stringify(reply));
      },
    });
    const confirmed = (run: string) =>
      until(
        () => beats.find((beat) => beat.brain === run && (run !== 'a.1' || beat.withdrawn.length > 0))?.withdrawn,
        (numbers) => numbers !== undefined,
      );
    new NodeProcess(t, 'node', { NATS_URL: nats.urls }).start();
    t.strictSame(await confirmed('a.1'), [1]);
    brain = 'a.2';
    t.strictSame(await confirmed('a.2'), []);
  },
);
