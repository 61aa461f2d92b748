/** Starts a sender node and stops it. */

import type { NatsConnection } from '@nats-io/transport-node';
import type { Config } from '../../config.ts';
import { systemClock } from '../../time/clock.ts';
import { connectNats } from '../connection.ts';
import { followLinks } from '../link-secrets.ts';
import { type PublicPages, servePublicPages } from '../public/server.ts';
import type { NodeLog } from './reporter.ts';
import { nodeName, SenderNode } from './sender-node.ts';

/** A running node. */
interface RunningNode {
  /** Finishes what is in flight, within SHUTDOWN_SECONDS, and gives back the rest. */
  close(): Promise<void>;
}

/**
 * Connects to NATS, waiting for it if need be, and sends what the service gives. With `servesPages` it also answers the pages of recipients at HOST and
 * PORT, which within the service is done by the service itself.
 */
export function startNode(config: Config, log: NodeLog, { servesPages }: { servesPages: boolean }): RunningNode {
  const ending = new AbortController();
  const { signal } = ending;
  const running = connectNats(config, { name: `node ${nodeName(config)}`, signal, log }).then((connection) => {
    const node = new SenderNode(config, connection, log);
    const run = node.run();
    const pages = servesPages ? servePages(config, connection, signal, log) : null;
    return async () => {
      await Promise.all([node.close(), pages?.then((served) => served?.close())]);
      await run;
      await connection.close();
    };
  });
  running.catch((error: unknown) => {
    if (!signal.aborted) log({ err: String(error) }, 'this node cannot start');
  });
  return {
    async close() {
      ending.abort();
      const stop = await running.catch(() => null);
      await stop?.();
    },
  };
}

/** Serves the pages of recipients. Where that is not possible, such as on a port that is taken, it says so, and the node sends nevertheless. */
async function servePages(
  config: Config,
  connection: NatsConnection,
  signal: AbortSignal,
  log: (fields: object, text: string) => void,
): Promise<PublicPages | null> {
  try {
    const links = followLinks(connection, signal);
    const pages = await servePublicPages({ connection, links, config, clock: systemClock });
    log({ origin: pages.origin }, 'this node serves the pages of recipients');
    return pages;
  } catch (error) {
    log({ err: String(error) }, 'this node cannot serve the pages of recipients; look at HOST and PORT');
    return null;
  }
}
