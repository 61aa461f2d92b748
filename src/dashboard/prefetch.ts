/**
 * Tells browsers which pages they may fetch while the pointer rests on a link, so that they are there at once when it is clicked
 * (speculation rules of the Prefetch specification; browsers that do not know them do nothing).
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Where the rules are. */
export const PREFETCH_RULES = '/prefetch-rules.json';

const PAGES = ['/', '/campaigns*', '/automations*', '/contacts*', '/unsubscribes*', '/outbox*', '/settings*'];
/** Files to save, parts of pages, and pages that are costly or say something new each time. */
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

export async function prefetchRules(app: FastifyInstance): Promise<void> {
  app.get(PREFETCH_RULES, (_request, reply) =>
    reply.header('cache-control', 'public, max-age=3600').type('application/speculationrules+json').send(RULES),
  );
}

/** Whether a browser fetches the page without anybody having asked to see it yet. */
export function isPrefetch({ headers }: FastifyRequest): boolean {
  return String(headers['sec-purpose'] ?? '').startsWith('prefetch');
}
