/** Ends every JSON answer with a line feed, so that a terminal shows its prompt on a line of its own after one. */
import type { FastifyInstance } from 'fastify';

/**
 * Adds a line feed to JSON that is answered as text; white space after a value is part of JSON (RFC 8259, section 2). Lists and
 * the reference data, which are answered as bytes, bring their own. Install it before the routes.
 */
export function installLineEnd(app: FastifyInstance): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    const isJson =
      typeof payload === 'string' && String(reply.getHeader('content-type')).startsWith('application/json');
    done(null, isJson ? `${payload}\n` : payload);
  });
}
