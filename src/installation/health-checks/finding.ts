/** The result of a check, and what to do about it. */
import type { Said } from '../../errors/sentences.ts';
import { readStored, stored } from '../../errors/stored.ts';

export interface Finding {
  /** The name of what was checked. */
  name: string;
  /** `warn`: mail is sent, but something should be improved; `fail`: mail or the service is in danger. */
  state: 'ok' | 'warn' | 'fail';
  /** What was found. */
  found: Said;
  /** What to do, in lines. */
  advice?: Said[];
  /** The TXT record whose publication makes the check pass. */
  record?: { name: string; value: string };
  /** The names of the DKIM records that are published correctly. */
  published?: string[];
}

/** A finding without its name, which the caller knows. */
export type CheckResult = Omit<Finding, 'name'>;

/** A finding as it is stored as JSON: with the sentences in their stored form. */
export interface KeptFinding extends Omit<Finding, 'found' | 'advice'> {
  found: string;
  advice?: string[];
}

/** Converts a finding to its stored form. */
export function keptFinding(finding: Finding): KeptFinding {
  const { found, advice, ...fields } = finding;
  return { ...fields, found: stored(found), ...(advice && { advice: advice.map(stored) }) };
}

/** Parses a stored finding. */
export function readFinding({ found, advice, ...fields }: KeptFinding): Finding {
  return { ...fields, found: readStored(found), ...(advice && { advice: advice.map((line) => readStored(line)) }) };
}
