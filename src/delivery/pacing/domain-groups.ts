/** Groups recipient domains by mailbox provider: all domains of a provider share a rate limit. Any other domain is a group of its own. */
import type { Clock } from '../../time/clock.ts';
import { HOUR_MS } from '../../units.ts';
import { providerOfDomain, providerOfServer } from './mailbox-providers.ts';

/** Resolves the MX records of a domain; rejects if there are none or the DNS does not answer. */
export type ResolveMx = (domain: string) => Promise<{ exchange: string; priority: number }[]>;

/** The maximum number of simultaneous lookups. */
const MAX_LOOKUPS = 4;
/** The maximum number of domains that wait for a lookup. Further domains are dropped, and looked up at a later mail. */
const MAX_QUEUED = 1000;
const MAX_CACHED = 10_000;
/** How long the result of a lookup is kept. */
const KNOWN_MS = 6 * HOUR_MS;
/** Matches reserved names, which receive no mail (RFC 2606, RFC 6761, RFC 6762). */
const RESERVED = /(?:^|\.)(?:test|example|invalid|localhost|local|example\.(?:com|net|org))$/;

export class DomainGroups {
  readonly #clock: Clock;
  readonly #resolveMx: ResolveMx | null;
  readonly #onFound: (domain: string, provider: string) => void;
  /** Cached DNS results: the provider, or null, with the monotonic time at which the result expires. */
  readonly #known = new Map<string, { provider: string | null; until: number }>();
  readonly #queued = new Set<string>();
  #lookups = 0;

  /**
   * If `resolveMx` is null, only the providers' own domains are known. `onFound` is called for each domain that turns out to be served by a
   * provider.
   */
  constructor(
    clock: Clock,
    resolveMx: ResolveMx | null,
    onFound: (domain: string, provider: string) => void = () => undefined,
  ) {
    this.#clock = clock;
    this.#resolveMx = resolveMx;
    this.#onFound = onFound;
  }

  /** Returns the name of the provider that is known to serve the domain, or else the domain. */
  groupOf(domain: string): string {
    return providerOfDomain(domain) ?? this.#known.get(domain)?.provider ?? domain;
  }

  /**
   * Looks up a domain's provider in the DNS unless it is cached. Returns at once. If the lookup fails, the domain remains a group of its
   * own.
   */
  lookUp(domain: string): void {
    if (this.#resolveMx === null || !domain.includes('.') || RESERVED.test(domain)) return;
    if (providerOfDomain(domain) !== null) return;
    if ((this.#known.get(domain)?.until ?? 0) > this.#clock.monotonic()) return;
    if (this.#queued.size < MAX_QUEUED) this.#queued.add(domain);
    this.#lookUpNext();
  }

  #lookUpNext(): void {
    const [domain] = this.#queued;
    if (domain === undefined || this.#lookups >= MAX_LOOKUPS) return;
    this.#queued.delete(domain);
    this.#lookups++;
    void this.#find(domain).finally(() => {
      this.#lookups--;
      this.#lookUpNext();
    });
  }

  async #find(domain: string): Promise<void> {
    const now = this.#clock.monotonic();
    // The domain is cached before the answer arrives, so that the lookup is not repeated meanwhile, nor for an hour after it fails.
    this.#keep(domain, { provider: this.#known.get(domain)?.provider ?? null, until: now + HOUR_MS });
    const records = await this.#resolveMx?.(domain).catch(() => null);
    if (!records) return;
    const [first] = records.sort((one, other) => one.priority - other.priority);
    const provider = first === undefined ? null : providerOfServer(first.exchange);
    this.#keep(domain, { provider, until: now + KNOWN_MS });
    if (provider !== null) this.#onFound(domain, provider);
  }

  #keep(domain: string, group: { provider: string | null; until: number }): void {
    this.#known.delete(domain);
    this.#known.set(domain, group);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_CACHED && oldest !== undefined) this.#known.delete(oldest);
  }
}
