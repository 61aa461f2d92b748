/** What a check found, and what to do about it. */
export interface Finding {
  name: string;
  /** `warn`: mail leaves, but something is weak; `fail`: mail or the service is in danger. */
  state: 'ok' | 'warn' | 'fail';
  found: string;
  /** What to do, in lines. */
  advice?: string[];
  /** The TXT record whose publication makes the check pass. */
  record?: { name: string; value: string };
  /** The names of the DKIM records that are there as they should be. */
  published?: string[];
}

/** A finding whose name its caller knows. */
export type CheckResult = Omit<Finding, 'name'>;
