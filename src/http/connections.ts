/** Connections to the HTTP server: how many there are, how long one may stand still, and how they end when the service stops. */
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

const MOST_CONNECTIONS = 1000;
/** A reader that has taken nothing for so long of an answer that waits for it is gone. */
const READER_MS = 60_000;
const LOOK_MS = 50;

/** What Fastify and Node are told about the time a request may take; its body has limits of its own. */
export const REQUEST_TIMES = {
  /** A backstop: longer than the longest upload. */
  requestTimeout: 2 * 60 * 60 * 1000,
  http: { headersTimeout: 20_000, connectionsCheckingInterval: 5000 },
};

/** Sets the limits of `app.server`. */
export function installConnectionLimits({ server }: FastifyInstance): void {
  server.maxConnections = MOST_CONNECTIONS;
  // One was turned away: those that wait for a next request make room.
  server.on('drop', () => server.closeIdleConnections());
  server.setTimeout(READER_MS, (socket) => {
    if (socket.writableLength > 0) socket.destroy();
  });
}

/** Stops taking requests and waits `graceMs` for those under way; then every connection is closed, whoever holds it open. */
export async function closeWithin(app: FastifyInstance, graceMs: number): Promise<void> {
  const until = performance.now() + graceMs;
  let isClosed = false;
  const closing = app.close().finally(() => {
    isClosed = true;
  });
  while (!isClosed) {
    // A connection becomes idle with the end of its last request.
    if (performance.now() < until) app.server.closeIdleConnections();
    else app.server.closeAllConnections();
    await Promise.race([closing, setTimeout(LOOK_MS, null, { ref: false })]);
  }
  await closing;
}
