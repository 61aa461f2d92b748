/** Limits on connections to the HTTP server: their number, how long one may be idle, and how they are closed when the service stops. */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const MAX_CONNECTIONS = 1000;
/** Connections that are silent, send headers or send a body without keys. Beyond so many, the one that began first gives way. */
const MAX_UNFINISHED = 900;
/** A connection is closed when an answer is waiting for it and the client has read nothing for this long. */
const IDLE_READER_MS = 60_000;
const CHECK_INTERVAL_MS = 50;

/** Fastify's and Node's time limits for a request. Bodies have limits of their own in bodies.ts. */
export const REQUEST_TIMES = {
  /** Longer than the longest upload, in case another limit fails. */
  requestTimeout: 2 * 60 * 60 * 1000,
  http: { headersTimeout: 20_000, connectionsCheckingInterval: 5000 },
};

/** The last request of each connection. */
const lastOf = new WeakMap<Duplex, { request: FastifyRequest['raw']; response: FastifyReply['raw'] }>();

/**
 * Whether a connection is in the middle of an answer, or has answered a request whose body still comes. What is written then would be
 * taken for a part of that answer, or for the answer to the next request.
 */
export function isAnswering(connection: Duplex): boolean {
  const last = lastOf.get(connection);
  return last?.response.headersSent === true && !(last.response.closed && last.request.complete);
}

/** Sets the limits of `app.server`, for the routes registered after this call. */
export function installConnectionLimits(app: FastifyInstance): void {
  const { server } = app;
  server.maxConnections = MAX_CONNECTIONS;
  // A connection was refused because the limit is reached. Close idle keep-alive connections to make room.
  server.on('drop', () => server.closeIdleConnections());
  server.setTimeout(IDLE_READER_MS, (socket) => {
    if (socket.writableLength > 0) socket.destroy();
  });
  keepRoom(app);
}

/**
 * Keeps strangers from holding every connection with requests that they do not finish. The reverse proxy opens many connections from one
 * address, so these can not be counted by address.
 */
function keepRoom(app: FastifyInstance): void {
  /** Each connection whose next request has not arrived, since when it is waited for, with what is known of the request. */
  const unfinished = new Map<Socket, FastifyRequest | null>();
  const begin = (socket: Socket) => {
    unfinished.set(socket, null);
    for (const [oldest, request] of unfinished) {
      if (unfinished.size <= MAX_UNFINISHED) break;
      // Whoever has keys or has signed in may take their time for a body.
      if (request !== null && (request.accountId > 0 || request.session)) continue;
      unfinished.delete(oldest);
      oldest.destroy();
    }
  };
  app.server.on('connection', (socket: Socket) => {
    begin(socket);
    socket.once('close', () => unfinished.delete(socket));
  });
  app.addHook('onRequest', (request, { raw: response }, next) => {
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
  });
}

/** Whether a request has a body, as its headers say. */
export function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
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
