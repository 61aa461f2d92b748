/** Request bodies on their way: how long one may take to arrive, and how much memory all of them may hold. */
import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import { Failure, unavailable } from '../failure.ts';

const LOOK_MS = 1000;
/** A form arrives within this time. */
const FORM_MS = 45_000;
/** A file may take an hour, as long as each half minute brings this much of it: about 1 KiB a second. */
const FILE_MS = 60 * 60 * 1000;
const WINDOW_MS = 30_000;
const WINDOW_BYTES = 32 * 1024;
/** How long the rest of a body that was answered before its end is read and dropped, so that the answer gets through. */
const LINGER_MS = 5000;
/** What all bodies that are being read hold together, and what one may hold without ever being ended for the sake of others. */
const MOST_HELD_BYTES = 64 * 1024 * 1024;
const SMALL_BYTES = 64 * 1024;

interface Body {
  request: FastifyRequest;
  reply: FastifyReply;
  isFile: boolean;
  /** Monotonic milliseconds. */
  startedAt: number;
  answeredAt: number | null;
  window: { startedAt: number; bytesRead: number };
  /** Bytes in memory. */
  held: number;
}

/** Watches the bodies of every route registered from here on. */
export function installBodyLimits(app: FastifyInstance, { clock }: { clock: Clock }): void {
  const open = new Set<Body>();
  let held = 0;
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  app.addHook('onClose', async () => clearInterval(timer));

  app.addHook('onRequest', (request, reply, next) => {
    // An injected request has no connection: its body is there from the beginning.
    if (hasBody(request) && request.raw.socket instanceof Socket) watch(request, reply);
    next();
  });

  function watch(request: FastifyRequest, reply: FastifyReply): void {
    const { raw } = request;
    const now = clock.monotonic();
    const isFile = request.routeOptions.config.upload === true;
    const window = { startedAt: now, bytesRead: raw.socket.bytesRead };
    const body: Body = { request, reply, isFile, startedAt: now, answeredAt: null, window, held: 0 };
    open.add(body);
    let isCounted = isFile;
    raw.on('newListener', (event) => {
      // A body that nobody reads stays with the sender. Listening for it before its reader does would lose its beginning.
      if (event !== 'data' || isCounted) return;
      isCounted = true;
      raw.on('data', (chunk: Buffer) => hold(body, chunk.length));
    });
    // Whoever reads the body has a listener of its own; without any, an end by `fail` would be thrown.
    raw.on('error', () => undefined);
    reply.raw.once('finish', () => {
      body.answeredAt ??= clock.monotonic();
      letGo(body);
      if (raw.complete || raw.destroyed) open.delete(body);
    });
    reply.raw.once('close', () => {
      letGo(body);
      if (raw.complete || raw.destroyed || raw.socket.destroyed) open.delete(body);
    });
  }

  function hold(body: Body, bytes: number): void {
    if (body.answeredAt !== null) return;
    body.held += bytes;
    held += bytes;
    while (held > MOST_HELD_BYTES && body.answeredAt === null) {
      const oldest = [...open].find((other) => isArriving(other) && other.held > SMALL_BYTES) ?? body;
      fail(oldest, unavailable());
    }
  }

  function letGo(body: Body): void {
    held -= body.held;
    body.held = 0;
  }

  /** Answers for a body that does not end; its connection is closed. */
  function fail(body: Body, failure: Failure): void {
    body.answeredAt = clock.monotonic();
    letGo(body);
    if (!body.reply.raw.headersSent) body.reply.header('connection', 'close');
    body.request.raw.emit('error', failure);
  }

  function look(): void {
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

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function isArriving({ request, answeredAt }: Body): boolean {
  return answeredAt === null && !request.raw.complete;
}

/** Whether a body has had its time. Begins the next window of a file that has come far enough. */
function isLate(body: Body, now: number): boolean {
  if (!body.isFile) return now - body.startedAt >= FORM_MS;
  if (now - body.startedAt >= FILE_MS) return true;
  if (now - body.window.startedAt < WINDOW_MS) return false;
  const { bytesRead } = body.request.raw.socket;
  if (bytesRead - body.window.bytesRead < WINDOW_BYTES) return true;
  body.window = { startedAt: now, bytesRead };
  return false;
}
