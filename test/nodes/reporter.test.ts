/** How a sender node reports outcomes to NATS. */
import t from 'tap';
import { startNats } from '../../fixtures/nats.ts';
import { readConfig } from '../../src/config.ts';
import { connectNats } from '../../src/nodes/connection.ts';
import { Reporter } from '../../src/nodes/node/reporter.ts';
import { endedAs } from '../../src/nodes/protocol.ts';
import { makeStreams } from '../../src/nodes/streams.ts';
import { ACCEPTED } from '../support/launched-mailing.ts';
import { skipWithout } from '../support/tools.ts';
import { until } from '../support/until.ts';

t.test('no mail may start while an outcome is not acknowledged', { skip: skipWithout('nats') }, async (t) => {
  const { urls } = await startNats(t);
  const options = { name: 'node', signal: new AbortController().signal, log: () => undefined };
  const connection = await connectNats(readConfig({ NATS_URL: urls }), options);
  t.teardown(() => connection.close());
  const reporter = new Reporter(connection, 'node', () => undefined);
  t.equal(reporter.isBehind, false, 'without an outcome');
  reporter.add(1, endedAs(1, ACCEPTED));
  t.equal(reporter.isBehind, false, 'with a new outcome');
  // NATS acknowledges nothing, because the stream does not exist yet.
  await until(() => reporter.isBehind);
  await makeStreams(connection);
  await reporter.finished();
  t.equal(reporter.isBehind, false, 'after the acknowledgement');
});
