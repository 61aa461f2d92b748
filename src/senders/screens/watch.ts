/** Looks at the DNS of one domain again and again while its page is open, so that a record that was just published turns green by itself. */
import type { FastifyRequest } from 'fastify';
import { ask } from '../../dashboard/operations.ts';
import { isPrefetch } from '../../dashboard/prefetch.ts';
import { recordTime } from '../../dashboard/record-time.ts';
import { type CheckedDomain, type Checks, renewChecks } from '../operations/checks.ts';

const WATCH_MS = 30 * 60_000;
/** How often the page looks again, in milliseconds. */
export const WATCH_EVERY_MS = 5000;
/** What was asked a shorter while ago is not asked again, however many pages are open. */
const FRESH_MS = 4000;
/** A page waits no longer than this for the DNS; the next look has what came later. */
const PATIENCE_MS = 1500;

export interface Watch {
  domain: string;
  /** Whether it goes on by itself: something is still wrong, and the time is not over. */
  isActive: boolean;
}

/** The address of the page that watches a domain from now on. */
export function watchPath(domain: string, now: Date): string {
  return `/settings/senders?${new URLSearchParams({ watch: domain, until: String(now.getTime() + WATCH_MS) })}`;
}

/** What the address of the page asks to be watched; null: nothing, or a domain of nobody here. */
export function findWatch({ query }: FastifyRequest, domains: readonly CheckedDomain[], now: Date): Watch | null {
  const { watch, until }: { watch?: unknown; until?: unknown } = Object(query);
  const domain = domains.find((known) => known.domain === watch);
  if (domain === undefined) return null;
  const left = Number(until) - now.getTime();
  return { domain: domain.domain, isActive: left > 0 && left <= WATCH_MS && !isWell(domain) };
}

function isWell({ checks }: CheckedDomain): boolean {
  return checks.length > 0 && checks.every(({ state }) => state === 'ok');
}

/** Asks the DNS about the watched domain, where it was not just asked. Gives what is known then, or null where nothing was asked. */
export async function lookAgain(
  request: FastifyRequest,
  { domains }: Checks,
  watch: Watch,
  now: Date,
): Promise<Checks | null> {
  const asked = recordTime(domains.find(({ domain }) => domain === watch.domain)?.checked_at ?? null);
  if (!watch.isActive || isPrefetch(request) || (asked !== null && now.getTime() - asked.getTime() < FRESH_MS))
    return null;
  const answer = ask(request, renewChecks, { domain: watch.domain }).catch(() => null);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, null);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
