/** Ends every JSON answer with a line feed, so that a terminal shows its next prompt on a new line. */
import type { FastifyInstance } from 'fastify';

/**
 * Adds a line feed to JSON answers that are sent as text; JSON allows white space after a value (RFC 8259, section 2). Lists and
 * the reference data are sent as bytes and contain their own. Call before the routes are registered.
 */
export function installLineEnd(app: FastifyInstance): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    const isJson =
      typeof payload === 'string' && String(reply.getHeader('content-type')).startsWith('application/json');
    done(null, isJson ? `${payload}\n` : payload);
  });
}
