/**
 * Tells who opened a mail or clicked in it: a person, a proxy that loads pictures whether or not anybody reads, or a machine. The rules
 * about user agents are in data/user-agents.json, each with its public source; docs/tracking.md tells what the classes mean.
 */
import { readFileSync } from 'node:fs';
import { DATA } from '../../database/data-folder.ts';
import { MADE_BY, type MadeBy } from '../../database/schema/index.ts';

/**
 * What a user agent says of its reader. `imageProxy`: the proxy of a mailbox provider that loads pictures when somebody looks at the mail,
 * and sometimes at once when it arrives.
 */
export const READERS = ['person', 'imageProxy', 'proxied', 'machine'] as const;
export type Reader = (typeof READERS)[number];

/** A rule of data/user-agents.json; the first one that matches holds, and an agent without any is a person's. */
interface Rule {
  /** A regular expression, regardless of case. */
  agent: string;
  class: keyof typeof MADE_BY;
  /** Of a person's: true if it also loads pictures at once when a mail arrives. */
  prefetches?: boolean;
  who: string;
  /** The address of a public page that says so. */
  source: string;
}

/** People do not open a mail this soon after it was accepted; content filters do. */
const TOO_SOON_MS = 2000;
/** An image proxy that loads a picture this soon after its mail was accepted does so because the mail arrived. */
const PREFETCH_MS = 10_000;
/** Longer agents are cut, so that a rule looks at little text. */
const MAX_AGENT = 500;
/** So many agents are remembered with what they are. */
const MAX_KNOWN = 5000;

const known = new Map<string, Reader>();
let rules: { pattern: RegExp; reader: Reader }[] | undefined;

/** What a request's user agent says of its reader; a request without one is a machine's. */
export function readerOf(userAgent: string | undefined): Reader {
  const agent = (userAgent ?? '').trim().slice(0, MAX_AGENT);
  const before = known.get(agent);
  if (before !== undefined) return before;
  rules ??= readRules();
  const reader = rules.find(({ pattern }) => pattern.test(agent))?.reader ?? 'person';
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(agent, reader);
  return reader;
}

function readRules() {
  const read: Rule[] = JSON.parse(readFileSync(new URL('user-agents.json', DATA), 'utf8'));
  return read.map(({ agent, class: of, prefetches = false }) => ({
    pattern: new RegExp(agent, 'i'),
    reader: prefetches ? ('imageProxy' as const) : of,
  }));
}

/** Who made an open or a click, `sinceMs` milliseconds after its mail was accepted; null: that is not known. */
export function madeBy(reader: Reader, isClick: boolean, sinceMs: number | null): MadeBy {
  // Proxies load pictures and follow no links, so a click under their name is a scanner's.
  if (reader === 'machine' || (isClick && reader !== 'person')) return MADE_BY.machine;
  if (reader === 'proxied') return MADE_BY.proxied;
  if (reader === 'imageProxy') return sinceMs !== null && sinceMs < PREFETCH_MS ? MADE_BY.proxied : MADE_BY.person;
  return sinceMs !== null && sinceMs < TOO_SOON_MS ? MADE_BY.machine : MADE_BY.person;
}

/** Whether an open at `at` came too soon after `handedOffAt` to be a person's; both in epoch milliseconds. */
export function isTooSoonForPerson(at: number, handedOffAt: number): boolean {
  return at - handedOffAt < TOO_SOON_MS;
}
