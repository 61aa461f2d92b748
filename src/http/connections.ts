/** Limits on connections to the HTTP server: their number, how long one may be idle, and how they are closed when the service stops. */
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

const MAX_CONNECTIONS = 1000;
/** A connection is closed when an answer is waiting for it and the client has read nothing for this long. */
const IDLE_READER_MS = 60_000;
const CHECK_INTERVAL_MS = 50;

/** Fastify's and Node's time limits for a request. Bodies have limits of their own in bodies.ts. */
export const REQUEST_TIMES = {
  /** Longer than the longest upload, in case another limit fails. */
  requestTimeout: 2 * 60 * 60 * 1000,
  http: { headersTimeout: 20_000, connectionsCheckingInterval: 5000 },
};

/** Sets the limits of `app.server`. */
export function installConnectionLimits({ server }: FastifyInstance): void {
  server.maxConnections = MAX_CONNECTIONS;
  // A connection was refused because the limit is reached. Close idle keep-alive connections to make room.
  server.on('drop', () => server.closeIdleConnections());
  server.setTimeout(IDLE_READER_MS, (socket) => {
    if (socket.writableLength > 0) socket.destroy();
  });
}

/** Stops accepting connections and waits up to `graceMs` for running requests, then closes every remaining connection. */
export async function closeWithin(app: FastifyInstance, graceMs: number): Promise<void> {
  const until = performance.now() + graceMs;
  let isClosed = false;
  const closing = app.close().finally(() => {
    isClosed = true;
  });
  while (!isClosed) {
    // A keep-alive connection becomes idle when its last request ends, which may be after the first round.
    if (performance.now() < until) app.server.closeIdleConnections();
    else app.server.closeAllConnections();
    await Promise.race([closing, setTimeout(CHECK_INTERVAL_MS, null, { ref: false })]);
  }
  await closing;
}
