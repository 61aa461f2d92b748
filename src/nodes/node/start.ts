/** Starts and stops a sender node. */

import type { Config } from '../../config.ts';
import type { Log } from '../../log.ts';
import { systemClock } from '../../time/clock.ts';
import { connectNats } from '../connection.ts';
import { followLinks } from '../link-secrets.ts';
import { type PublicPages, servePublicPages } from '../public/server.ts';
import { NodeMetrics } from './node-metrics.ts';
import { nodeName, SenderNode } from './sender-node.ts';

interface RunningNode {
  /** Finishes mails whose text is being written within SHUTDOWN_SECONDS, and returns all other recipients. */
  close(): Promise<void>;
}

/**
 * Connects to NATS, waiting for it if needed, and sends the mails that the controller assigns. With `servesPages` the node also serves the
 * public pages at HOST and PORT from the start. A node inside the service does not, because the service itself serves them.
 */
export function startNode(config: Config, log: Log, { servesPages }: { servesPages: boolean }): RunningNode {
  const ending = new AbortController();
  const { signal } = ending;
  const metrics = servesPages ? new NodeMetrics() : null;
  const serving = metrics === null ? Promise.resolve(null) : servePages(config, metrics, log);
  const running = connectNats(config, { name: `node ${nodeName(config)}`, signal, log }).then((connection) => {
    const node = new SenderNode(config, connection, log, (outcome) => metrics?.count(outcome));
    metrics?.follow(() => node.status);
    const run = node.run();
    const links = followLinks(connection, signal);
    void serving.then((pages) => pages?.use({ connection, links }));
    return async () => {
      await Promise.all([node.close(), serving.then((pages) => pages?.close())]);
      await run;
      await connection.close();
    };
  });
  running.catch((error: unknown) => {
    if (!signal.aborted) log({ err: String(error) }, 'this node cannot start', 'error');
  });
  return {
    async close() {
      ending.abort();
      const stop = await running.catch(() => async () => (await serving)?.close());
      await stop();
      metrics?.close();
    },
  };
}

/**
 * Serves the public pages. If that is not possible, for example because the port is taken, logs the reason and returns null; the node still
 * sends mail.
 */
async function servePages(config: Config, metrics: NodeMetrics, log: Log): Promise<PublicPages | null> {
  try {
    const pages = await servePublicPages({ config, clock: systemClock, metrics });
    log({ origin: pages.origin }, 'this node serves the pages of recipients');
    return pages;
  } catch (error) {
    log({ err: String(error) }, 'this node cannot serve the pages of recipients; look at HOST and PORT', 'error');
    return null;
  }
}
