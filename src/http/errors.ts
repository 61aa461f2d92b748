/** Answers every error under /api with the failure envelope. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { Failure, type FieldErrors } from '../errors/failure.ts';
import type { Said } from '../errors/sentences.ts';

/** The texts for the statuses that Fastify and Node set themselves. */
const FRAMEWORK_TEXTS = new Map([
  [400, 'Malformed Request'],
  [404, 'Not Found'],
  [405, 'Method Not Allowed'],
  [408, 'Request Timeout'],
  [413, 'Payload Too Large'],
  [414, 'URI Too Long'],
  [415, 'Unsupported Media Type'],
  [431, 'Request Header Fields Too Large'],
]);

/** The body of a failure. */
export function failedBody(errors: Said | FieldErrors): { status: 'failed'; errors: Said | FieldErrors } {
  return { status: 'failed', errors };
}

/** The text for an error status that Fastify or Node sets itself. */
export function frameworkText(status: number): string {
  return FRAMEWORK_TEXTS.get(status) ?? 'Malformed Request';
}

/** Logs the cause of a failure, if it has one, and adds Retry-After (RFC 9110, 10.2.3) to a 503 reply. */
export function noteFailure(reply: FastifyReply, failure: Failure): FastifyReply {
  const { log, routeOptions } = reply.request;
  if (failure.cause !== undefined) log.error({ err: failure, route: routeOptions.url }, 'request refused');
  return failure.status === 503 ? reply.header('retry-after', '1') : reply;
}

/** Logs an internal error with its route. */
export function logFailed({ log, routeOptions }: FastifyRequest, err: Error): void {
  log.error({ err, route: routeOptions.url }, 'request failed');
}

/**
 * Installs the error and not-found handlers. With `STATUS_CODES=always-200` the bodies stay the same and every status is 200, except for
 * the dashboard, which needs the real status.
 */
export function installErrors(app: FastifyInstance, { config }: { config: Config }): void {
  const fail = (reply: FastifyReply, status: number, content: Said | FieldErrors) =>
    reply
      .code(config.STATUS_CODES === 'always-200' && reply.request.sessionId === null ? 200 : status)
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(failedBody(content)));

  app.setErrorHandler((error: FastifyError | Failure, request: FastifyRequest, reply) => {
    if (error instanceof Failure && error.location !== undefined) reply.header('location', error.location);
    if (error instanceof Failure) return fail(noteFailure(reply, error), error.status, error.errors);
    const status = error.statusCode ?? 500;
    if (status >= 400 && status < 500) return fail(reply, status, frameworkText(status));
    logFailed(request, error);
    return fail(reply, 500, 'Internal error');
  });
  app.setNotFoundHandler((_request, reply) => fail(reply, 404, 'Not Found'));
}
