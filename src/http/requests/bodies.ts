/** Limits request bodies while they arrive: the time for each, and the memory used by all of them. */
import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Failure, unavailable } from '../../errors/failure.ts';
import type { Clock } from '../../time/clock.ts';
import { HOUR_MS, MEBIBYTE } from '../../units.ts';
import { hasBody } from '../connections.ts';

const CHECK_INTERVAL_MS = 1000;
/** A form must arrive within this time. */
const FORM_MS = 45_000;
/** A file may take an hour, as long as at least WINDOW_BYTES of it arrive in each window: about 1 KiB per second. */
const FILE_MS = HOUR_MS;
const WINDOW_MS = 30_000;
const WINDOW_BYTES = 32 * 1024;
/**
 * If a request is answered before its body has ended, the rest is read and discarded for this long. Closing at once could reset the
 * connection before the client has read the response.
 */
const LINGER_MS = 5000;
/** The maximum memory for all unfinished bodies. When it is exceeded, the oldest body larger than SMALL_BODY_BYTES is rejected. */
const MAX_HELD_BYTES = 64 * MEBIBYTE;
const SMALL_BODY_BYTES = 64 * 1024;

interface Body {
  request: FastifyRequest;
  reply: FastifyReply;
  isFile: boolean;
  /** Monotonic milliseconds. */
  startedAt: number;
  answeredAt: number | null;
  /** The current window of a file: when it began, and how many bytes had been read from the connection by then. */
  window: { startedAt: number; bytesRead: number };
  /** The number of bytes of the body that are in memory. */
  held: number;
}

/** Limits bodies until `main` closes. Returns a function that installs the limits in an application, before its routes are registered. */
export function limitBodies(main: FastifyInstance, { clock }: { clock: Clock }): (app: FastifyInstance) => void {
  const open = new Set<Body>();
  let held = 0;
  const timer = setInterval(checkAll, CHECK_INTERVAL_MS);
  timer.unref();
  main.addHook('onClose', async () => clearInterval(timer));
  return (app) => {
    app.addHook('onRequest', (request, reply, next) => {
      // A request from `inject` has no connection; its whole body is there from the start.
      if (hasBody(request) && request.raw.socket instanceof Socket) watch(request, reply);
      next();
    });
  };

  function watch(request: FastifyRequest, reply: FastifyReply): void {
    const { raw } = request;
    const now = clock.monotonic();
    const isFile = request.routeOptions.config.upload === true;
    const window = { startedAt: now, bytesRead: raw.socket.bytesRead };
    const body: Body = { request, reply, isFile, startedAt: now, answeredAt: null, window, held: 0 };
    open.add(body);
    let isCounted = false;
    raw.on('newListener', (event) => {
      // Bytes are counted only once a parser listens. A body that is not read stays in the client's buffers, and a listener added before the
      // parser's would start the stream and lose its beginning.
      if (event !== 'data' || isFile || isCounted) return;
      isCounted = true;
      raw.on('data', (chunk: Buffer) => hold(body, chunk.length));
    });
    // `fail` emits an error. The parser listens for it, but without any listener Node would throw it.
    raw.on('error', () => undefined);
    reply.raw.once('finish', () => {
      body.answeredAt ??= clock.monotonic();
      release(body);
      if (raw.complete || raw.destroyed) open.delete(body);
    });
    reply.raw.once('close', () => {
      release(body);
      if (raw.complete || raw.destroyed || raw.socket.destroyed) open.delete(body);
    });
  }

  function hold(body: Body, bytes: number): void {
    if (body.answeredAt !== null) return;
    body.held += bytes;
    held += bytes;
    while (held > MAX_HELD_BYTES && body.answeredAt === null) {
      const oldest = [...open].find((other) => isArriving(other) && other.held > SMALL_BODY_BYTES) ?? body;
      fail(oldest, unavailable());
    }
  }

  function release(body: Body): void {
    held -= body.held;
    body.held = 0;
  }

  /** Answers a request whose body is rejected or too slow, and closes its connection. */
  function fail(body: Body, failure: Failure): void {
    body.answeredAt = clock.monotonic();
    release(body);
    if (!body.reply.raw.headersSent) body.reply.header('connection', 'close');
    body.request.raw.emit('error', failure);
  }

  function checkAll(): void {
    const now = clock.monotonic();
    for (const body of open) {
      const { socket, complete } = body.request.raw;
      if (socket.destroyed || (complete && body.answeredAt !== null)) open.delete(body);
      else if (complete) continue;
      else if (body.answeredAt !== null) {
        if (now - body.answeredAt >= LINGER_MS) socket.destroy();
      } else if (isLate(body, now)) fail(body, new Failure(408, 'Request Timeout'));
    }
  }
}

function isArriving({ request, answeredAt }: Body): boolean {
  return answeredAt === null && !request.raw.complete;
}

/** Returns true if a body is too slow. Starts the next window of a file that has made enough progress. */
function isLate(body: Body, now: number): boolean {
  if (!body.isFile) return now - body.startedAt >= FORM_MS;
  if (now - body.startedAt >= FILE_MS) return true;
  if (now - body.window.startedAt < WINDOW_MS) return false;
  const { bytesRead } = body.request.raw.socket;
  if (bytesRead - body.window.bytesRead < WINDOW_BYTES) return true;
  body.window = { startedAt: now, bytesRead };
  return false;
}
