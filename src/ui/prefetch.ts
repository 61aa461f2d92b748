/**
 * Tells browsers which pages they may fetch while the pointer is over a link, so that a click shows the page at once. The rules follow the
 * Prefetch specification (speculation rules). Browsers that do not support it ignore them.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** The path at which browsers get the rules. */
export const PREFETCH_RULES = '/prefetch-rules.json';

/** The pages that browsers may fetch ahead. */
const PAGES = ['/', '/campaigns*', '/automations*', '/contacts*', '/unsubscribes*', '/outbox*', '/settings*'];
/** The exceptions: downloads, parts of pages, and pages that are expensive or different each time. */
const EXCEPTIONS = [
  '/campaigns/*/recipients.csv',
  '/campaigns/*/*/mail',
  '/campaigns/*/edit/*',
  '/contacts/*/export',
  '/contacts/import/*',
  '/contacts/actions/*',
  '/outbox/*/html',
  '/settings/backup/file',
  '/settings/health',
  '/settings/second-factor',
];
const RULES = JSON.stringify({
  prefetch: [
    { where: { and: [{ href_matches: PAGES }, { not: { href_matches: EXCEPTIONS } }] }, eagerness: 'moderate' },
  ],
});

/** Registers the rules by which browsers fetch pages ahead of a click. */
export async function prefetchRules(app: FastifyInstance): Promise<void> {
  app.get(PREFETCH_RULES, (_request, reply) =>
    reply.header('cache-control', 'public, max-age=3600').type('application/speculationrules+json').send(RULES),
  );
}

/** Returns true if the browser fetches the page ahead of a click. */
export function isPrefetch({ headers }: FastifyRequest): boolean {
  return String(headers['sec-purpose'] ?? '').startsWith('prefetch');
}
