/**
 * Measures how many results of mails JetStream accepts a second, and how many bytes a result needs on a server. The results come in reports
 * as nodes publish them, to one server and to three servers that each keep a copy.
 *
 *   npm run bench:jetstream -- [mails]
 *
 * The bench needs Debian's package nats-server.
 */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { startNats } from '../../fixtures/nats.ts';
import { endedAs, PROTOCOL, type Report } from '../../src/nodes/protocol.ts';
import { makeStreams, STREAM, SUBJECT } from '../../src/nodes/streams.ts';
import { report, type Table } from './report.ts';

const [mails = '1000000'] = process.argv.slice(2);
/** The most results that a node puts into a report. */
const PER_REPORT = 500;
/** Nodes that publish at the same time; each waits for the acknowledgement of its report before it sends the next one. */
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
  const teardowns: (() => Promise<void>)[] = [];
  const { urls } = await startNats({ teardown: (stop) => void teardowns.push(stop) }, servers);
  const connection = await connect({ servers: urls.split(',') });
  await makeStreams(connection);
  const client = jetstream(connection);
  let remaining = Number(mails);
  let reportNumber = 0;
  const publish = async (node: number) => {
    while (remaining > 0) {
      const first = remaining;
      remaining -= PER_REPORT;
      const ended = Array.from({ length: PER_REPORT }, (_, index) => endedAs(900_000_000 + first + index, OUTCOME));
      const nodeReport: Report = { protocol: PROTOCOL, run: '', brain: 'installation.run', ended: [[first, ended]] };
      const msgID = `node-${node}.${++reportNumber}`;
      await client.publish(`${SUBJECT.results}.node-${node}`, JSON.stringify(nodeReport), { msgID });
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: NODES }, (_, node) => publish(node)));
  const seconds = (performance.now() - started) / 1000;
  const { state } = await (await jetstreamManager(connection)).streams.info(STREAM.results);
  const results = state.messages * PER_REPORT;
  table[servers === 1 ? 'one server' : 'three servers, a copy on each'] = {
    results,
    'results/s': Math.round(results / seconds),
    'bytes each, on each server': Math.round(state.bytes / results),
  };
  await connection.close();
  for (const stop of teardowns) await stop();
}
report(table, [`${NODES} nodes publish, ${PER_REPORT} results in a report.`]);
