/**
 * Classifies who opened a mail or clicked: a person, a proxy that loads images whether or not anyone reads the mail, or a machine. The
 * rules about user agents are in data/user-agents.json, each with its public source; docs/tracking.md explains the classes.
 */
import { readFileSync } from 'node:fs';
import { DATA } from '../../database/data-folder.ts';
import { MADE_BY, type MadeBy } from '../../database/schema/index.ts';

/**
 * The classes of user agents. `imageProxy` is a mailbox provider's proxy that loads images when the recipient opens the mail, and sometimes
 * already when the mail arrives. `proxied` is a proxy that loads images whether or not anyone opens the mail.
 */
export const READERS = ['person', 'imageProxy', 'proxied', 'machine'] as const;
export type Reader = (typeof READERS)[number];

/** A rule of data/user-agents.json. The first matching rule applies; an agent that matches none belongs to a person. */
interface Rule {
  /** A regular expression, matched without regard to case. */
  agent: string;
  /** The class of the agent, see `READERS`. */
  class: keyof typeof MADE_BY;
  /** For rules of class `person`: true if the agent also loads images when a mail arrives. */
  prefetches?: boolean;
  /** The name of the program or the service. */
  who: string;
  /** The URL of a public page that documents the agent. */
  source: string;
}

/** The time after which a person can have opened an accepted mail, in milliseconds. Earlier opens come from content filters. */
const TOO_SOON_MS = 2000;
/**
 * The time during which an image proxy loads the images of an accepted mail because the mail arrived, in milliseconds. Later, it loads them
 * because someone opened the mail.
 */
const PREFETCH_MS = 10_000;
/** The number of characters of a user agent that are read, so that matching stays cheap. */
const MAX_AGENT = 500;
/** The maximum number of user agents whose class is cached. */
const MAX_KNOWN = 5000;

const cachedReaders = new Map<string, Reader>();
let rules: { pattern: RegExp; reader: Reader }[] | undefined;

/** Returns the class of a request's user agent. A request without a user agent is a machine's. */
export function readerOf(userAgent: string | undefined): Reader {
  const agent = (userAgent ?? '').trim().slice(0, MAX_AGENT);
  const cached = cachedReaders.get(agent);
  if (cached !== undefined) return cached;
  rules ??= readRules();
  const reader = rules.find(({ pattern }) => pattern.test(agent))?.reader ?? 'person';
  if (cachedReaders.size >= MAX_KNOWN) cachedReaders.clear();
  cachedReaders.set(agent, reader);
  return reader;
}

function readRules() {
  const read: Rule[] = JSON.parse(readFileSync(new URL('user-agents.json', DATA), 'utf8'));
  return read.map(({ agent, class: agentClass, prefetches = false }) => ({
    pattern: new RegExp(agent, 'i'),
    reader: prefetches ? ('imageProxy' as const) : agentClass,
  }));
}

/** Returns who made an open or a click. `sinceMs` is the number of milliseconds since the mail was accepted; null if unknown. */
export function madeBy(reader: Reader, isClick: boolean, sinceMs: number | null): MadeBy {
  // Proxies load images and follow no links, so a click with a proxy's user agent comes from a scanner.
  if (reader === 'machine' || (isClick && reader !== 'person')) return MADE_BY.machine;
  if (reader === 'proxied') return MADE_BY.proxied;
  if (reader === 'imageProxy') return sinceMs !== null && sinceMs < PREFETCH_MS ? MADE_BY.proxied : MADE_BY.person;
  return sinceMs !== null && sinceMs < TOO_SOON_MS ? MADE_BY.machine : MADE_BY.person;
}

/** Returns true if an open at `at` came too soon after the hand-off at `handedOffAt` to be a person's. Both are in epoch milliseconds. */
export function isTooSoonForPerson(at: number, handedOffAt: number): boolean {
  return at - handedOffAt < TOO_SOON_MS;
}
