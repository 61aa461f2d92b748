/**
 * How many results of mails JetStream takes a second, and how many bytes each needs on a server: reports as nodes publish them, to one
 * server and to three that each keep a copy. `npm run bench:jetstream -- [mails]`; it needs Debian's package nats-server.
 */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { startNats } from '../../fixtures/nats.ts';
import { endedAs, PROTOCOL, type Report } from '../../src/nodes/protocol.ts';
import { makeStreams, STREAM, SUBJECT } from '../../src/nodes/streams.ts';
import { report, type Table } from './report.ts';

const [mails = '1000000'] = process.argv.slice(2);
/** As many as a node puts into a report at most. */
const PER_REPORT = 500;
/** Nodes that publish at a time; each waits for the acknowledgement of its report before it sends the next. */
const NODES = 4;
const OUTCOME = {
  kind: 'accepted',
  stage: 'body',
  code: 250,
  enhanced: '2.0.0',
  reply: '250 2.0.0 Ok: queued as 4VbQkd1Xb1z9sJ7',
} as const;

const table: Table = {};
for (const servers of [1, 3] as const) {
  const ends: (() => Promise<void>)[] = [];
  const { urls } = await startNats({ teardown: (end) => void ends.push(end) }, servers);
  const connection = await connect({ servers: urls.split(',') });
  await makeStreams(connection);
  const client = jetstream(connection);
  let left = Number(mails);
  let number = 0;
  const publish = async (node: number) => {
    while (left > 0) {
      const first = left;
      left -= PER_REPORT;
      const ended = Array.from({ length: PER_REPORT }, (_, at) => endedAs(900_000_000 + first + at, OUTCOME));
      const made: Report = { protocol: PROTOCOL, run: '', brain: 'installation.run', ended: [[first, ended]] };
      const msgID = `node-${node}.${++number}`;
      await client.publish(`${SUBJECT.results}.node-${node}`, JSON.stringify(made), { msgID });
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: NODES }, (_, node) => publish(node)));
  const seconds = (performance.now() - begun) / 1000;
  const { state } = await (await jetstreamManager(connection)).streams.info(STREAM.results);
  const results = state.messages * PER_REPORT;
  table[servers === 1 ? 'one server' : 'three servers, a copy on each'] = {
    results,
    'results/s': Math.round(results / seconds),
    'bytes each, on each server': Math.round(state.bytes / results),
  };
  await connection.close();
  for (const end of ends) await end();
}
report(table, [`${NODES} nodes publish, ${PER_REPORT} results in a report.`]);
