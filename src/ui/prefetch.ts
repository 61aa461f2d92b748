/**
 * Tells browsers which pages they may fetch while the pointer is over a link, so that a click shows them at once (speculation
 * rules of the Prefetch specification; browsers without support ignore them).
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** The path of the rules. */
export const PREFETCH_RULES = '/prefetch-rules.json';

const PAGES = ['/', '/campaigns*', '/automations*', '/contacts*', '/unsubscribes*', '/outbox*', '/settings*'];
/** Downloads, parts of pages, and pages that are expensive or different each time. */
const NO_PAGES = [
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
  prefetch: [{ where: { and: [{ href_matches: PAGES }, { not: { href_matches: NO_PAGES } }] }, eagerness: 'moderate' }],
});

/** Registers the rules by which browsers fetch pages ahead of a click. */
export async function prefetchRules(app: FastifyInstance): Promise<void> {
  app.get(PREFETCH_RULES, (_request, reply) =>
    reply.header('cache-control', 'public, max-age=3600').type('application/speculationrules+json').send(RULES),
  );
}

/** Returns true if the browser prefetches the page before the user has asked for it. */
export function isPrefetch({ headers }: FastifyRequest): boolean {
  return String(headers['sec-purpose'] ?? '').startsWith('prefetch');
}
