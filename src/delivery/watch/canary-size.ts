/** How large the canary of an audience is. */

/** A smaller audience gets the mail at once: a part of it that is large enough to say something would be most of it. */
export const LEAST_AUDIENCE = 1000;
/** More than the results that a hold needs, since some are put off. */
const LEAST_RECIPIENTS = 300;
/** More would say nothing more. */
const MAX_RECIPIENTS = 10_000;
/** How many recipients the canary of an audience has; 0 for an audience that is too small for one. */
export function canarySize(audience: number, percent: number): number {
  if (audience < LEAST_AUDIENCE || percent === 0) return 0;
  return Math.min(MAX_RECIPIENTS, Math.max(LEAST_RECIPIENTS, Math.ceil((audience * percent) / 100)));
}
