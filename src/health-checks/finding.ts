/** What a check found, and what to do about it. */
import type { Said } from '../errors/sentences.ts';
import { readStored, stored } from '../errors/stored.ts';

export interface Finding {
  name: string;
  /** `warn`: mail leaves, but something is weak; `fail`: mail or the service is in danger. */
  state: 'ok' | 'warn' | 'fail';
  found: Said;
  /** What to do, in lines. */
  advice?: Said[];
  /** The TXT record whose publication makes the check pass. */
  record?: { name: string; value: string };
  /** The names of the DKIM records that are there as they should be. */
  published?: string[];
}

/** A finding whose name its caller knows. */
export type CheckResult = Omit<Finding, 'name'>;

/** A finding as it is kept, as JSON, with what the service says in its stored form. */
export interface KeptFinding extends Omit<Finding, 'found' | 'advice'> {
  found: string;
  advice?: string[];
}

/** The finding as it is kept. */
export function keptFinding(finding: Finding): KeptFinding {
  const { found, advice, ...rest } = finding;
  return { ...rest, found: stored(found), ...(advice && { advice: advice.map(stored) }) };
}

/** The finding that was kept. */
export function readFinding({ found, advice, ...rest }: KeptFinding): Finding {
  return { ...rest, found: readStored(found), ...(advice && { advice: advice.map((line) => readStored(line)) }) };
}
