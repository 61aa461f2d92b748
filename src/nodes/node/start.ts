/** Starts a sender node and stops it. */
import type { Config } from '../../config.ts';
import { connectNats } from '../connection.ts';
import { SenderNode } from './sender-node.ts';

/** A running node. */
export interface RunningNode {
  /** Finishes what is in flight, within SHUTDOWN_SECONDS, and gives back the rest. */
  close(): Promise<void>;
}

/** Connects to NATS, waiting for it if need be, and sends what the service gives. */
export function startNode(config: Config, log: (fields: object, text: string) => void): RunningNode {
  const ending = new AbortController();
  const { signal } = ending;
  const running = connectNats(config, { name: `node ${config.NODE_NAME}`, signal, log }).then((connection) => {
    const node = new SenderNode(config, connection, log);
    const run = node.run();
    return async () => {
      await node.close();
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
