/** What a check found, and what to do about it. */
import type { Said } from '../errors/sentences.ts';

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
