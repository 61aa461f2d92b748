/** Limits connections to the HTTP server: their number, their idle time, and how they are closed when the service stops. */
import type { Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { HOUR_MS } from '../units.ts';

const MAX_CONNECTIONS = 1000;
/**
 * The maximum number of connections that are silent, or still sending headers or a body without keys. Beyond it, the oldest one is closed.
 */
const MAX_UNFINISHED = 900;
/** A connection is closed if a response is waiting and the client has read nothing for this long. */
const IDLE_READER_MS = 60_000;
const CHECK_INTERVAL_MS = 50;

/** Fastify's and Node's time limits for a request. Bodies have separate limits in bodies.ts. */
export const REQUEST_TIMES = {
  /** This limit only matters if another limit fails: it is longer than the longest upload. */
  requestTimeout: 2 * HOUR_MS,
  http: { headersTimeout: 20_000, connectionsCheckingInterval: 5000 },
};

/** The last request of each connection. */
const lastOf = new WeakMap<Duplex, { request: FastifyRequest['raw']; response: FastifyReply['raw'] }>();

/**
 * Returns true if a connection is in the middle of a response, or has answered a request whose body is still arriving. A client would take
 * anything written then for a part of that response, or for the response to its next request.
 */
export function isAnswering(connection: Duplex): boolean {
  const last = lastOf.get(connection);
  return last?.response.headersSent === true && !(last.response.closed && last.request.complete);
}

/**
 * Limits the connections of the server of `app`. Returns a function that installs the limits in an application, before its routes are
 * registered.
 */
export function limitConnections({ server }: FastifyInstance): (app: FastifyInstance) => void {
  server.maxConnections = MAX_CONNECTIONS;
  // A connection was refused because the limit is reached. Closes idle keep-alive connections to make room.
  server.on('drop', () => server.closeIdleConnections());
  server.setTimeout(IDLE_READER_MS, (socket) => {
    if (socket.writableLength > 0) socket.destroy();
  });
  return limitUnfinished(server);
}

/**
 * Prevents unauthenticated clients from occupying all connections with unfinished requests. These connections cannot be counted by address,
 * because a reverse proxy opens many from one address.
 */
function limitUnfinished(server: Server): (app: FastifyInstance) => void {
  /**
   * Connections whose next request has not arrived completely, in the order in which waiting began, with the request if its headers have
   * arrived.
   */
  const unfinished = new Map<Socket, FastifyRequest | null>();
  const begin = (socket: Socket) => {
    unfinished.set(socket, null);
    for (const [oldest, request] of unfinished) {
      if (unfinished.size <= MAX_UNFINISHED) break;
      // Authenticated callers may take their time for a body.
      if (request !== null && (request.accountId > 0 || request.session)) continue;
      unfinished.delete(oldest);
      oldest.destroy();
    }
  };
  server.on('connection', (socket: Socket) => {
    begin(socket);
    socket.once('close', () => unfinished.delete(socket));
  });
  const count: onRequestHookHandler = (request, { raw: response }, next) => {
    const { raw } = request;
    const { socket } = raw;
    // A request from `inject` has no connection.
    if (!(socket instanceof Socket)) return next();
    lastOf.set(socket, { request: raw, response });
    if (!hasBody(request)) unfinished.delete(socket);
    else if (unfinished.has(socket)) unfinished.set(socket, request);
    const beginNext = () => {
      unfinished.delete(socket);
      if (response.closed && !socket.destroyed) begin(socket);
    };
    if (hasBody(request)) raw.once('end', beginNext);
    response.once('close', beginNext);
    next();
  };
  return (app) => app.addHook('onRequest', count);
}

/** Returns true if a request has a body according to its headers. */
export function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Stops accepting connections, waits up to `graceMs` milliseconds for running requests, then closes every remaining connection. */
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
