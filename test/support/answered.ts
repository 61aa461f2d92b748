import type { CheckResult } from '../../src/installation/health-checks/finding.ts';

/** A finding as the API answers it: with its sentences in English. */
export function answered<Result extends CheckResult>(finding: Result) {
  return { ...finding, found: String(finding.found), advice: finding.advice?.map(String) };
}

/** Returns true if the body of an answer has the envelope of the API. */
export function isEnvelope(body: unknown): boolean {
  const { status, message, errors } = Object(body);
  return status === 'success'
    ? (message === undefined) !== (errors === undefined)
    : status === 'failed' && errors !== undefined;
}
