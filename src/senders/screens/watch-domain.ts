/** Checks the DNS of one domain repeatedly while its page is open, so that a new record is shown soon after it was published. */
import type { FastifyRequest } from 'fastify';
import { ask } from '../../ui/operations.ts';
import { isPrefetch } from '../../ui/prefetch.ts';
import { recordTime } from '../../ui/record-time.ts';
import { MINUTE_MS } from '../../units.ts';
import { type CheckedDomain, type Checks, renewChecks } from '../operations/checks.ts';

/** How long a page checks again by itself. */
const WATCH_MS = 30 * MINUTE_MS;
/** How often the page checks again, in milliseconds. */
export const WATCH_EVERY_MS = 5000;
/** The minimum time between two checks, however many pages are open. */
const FRESH_MS = 4000;
/** How long a page waits for the DNS. The next check shows answers that come later. */
const TIMEOUT_MS = 1500;

export interface Watch {
  domain: string;
  /** True if the page continues to check: something is still wrong, and the time is not over. */
  isActive: boolean;
}

/** Returns the URL of the page that watches a domain from now on. */
export function watchPath(domain: string, now: Date): string {
  return `/settings/senders?${new URLSearchParams({ watch: domain, until: String(now.getTime() + WATCH_MS) })}`;
}

/** Returns the domain that the page's URL asks to watch; null if the URL names no domain, or none of `domains`. */
export function findWatch({ query }: FastifyRequest, domains: readonly CheckedDomain[], now: Date): Watch | null {
  const { watch, until }: { watch?: unknown; until?: unknown } = Object(query);
  const domain = domains.find((known) => known.domain === watch);
  if (domain === undefined) return null;
  const remainingMs = Number(until) - now.getTime();
  return { domain: domain.domain, isActive: remainingMs > 0 && remainingMs <= WATCH_MS && !isWell(domain) };
}

/** Returns true if the DNS of a domain was checked and every check passed. */
export function isWell({ checks }: Pick<CheckedDomain, 'checks'>): boolean {
  return checks.length > 0 && checks.every(({ state }) => state === 'ok');
}

/**
 * Checks the DNS of the watched domain, unless it was checked just before. Returns all findings; null if nothing was checked, or if the DNS
 * has not answered within `TIMEOUT_MS`.
 */
export async function checkAgain(
  request: FastifyRequest,
  { domains }: Checks,
  watch: Watch,
  now: Date,
): Promise<Checks | null> {
  const checkedAt = recordTime(domains.find(({ domain }) => domain === watch.domain)?.checked_at ?? null);
  if (!watch.isActive || isPrefetch(request) || (checkedAt !== null && now.getTime() - checkedAt.getTime() < FRESH_MS))
    return null;
  const answer = ask(request, renewChecks, { domain: watch.domain }).catch(() => null);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, TIMEOUT_MS, null);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
