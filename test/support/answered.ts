import type { CheckResult } from '../../src/installation/health-checks/finding.ts';

/** A finding as the API answers it: with its sentences in English. */
export function answered<Result extends CheckResult>(finding: Result) {
  return { ...finding, found: String(finding.found), advice: finding.advice?.map(String) };
}
