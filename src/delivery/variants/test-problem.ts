/** Checks whether a single send can have its A/B test. */
import { trackingMode } from '../../audience/tracking-choice.ts';
import type { Config } from '../../config.ts';
import type { Db } from '../../database/open.ts';
import type { singleSends, TrackingMode } from '../../database/schema/index.ts';

type TestedSend = Pick<
  typeof singleSends.$inferSelect,
  'user_id' | 'tracking' | 'canary_percent' | 'local_time' | 'best_hour' | 'ab_test' | 'languages'
>;

/**
 * Returns the code of the sentence that explains why the A/B test of a single send is not possible; null if it is possible, or if there is
 * no test.
 */
export function findAbTestProblem(
  db: Db,
  config: Config,
  send: TestedSend,
): 'ab_canary' | 'local_time_ab' | 'best_hour_ab' | 'ab_languages' | 'ab_untracked' | null {
  if (send.ab_test === null) return null;
  if (send.canary_percent > 0) return 'ab_canary';
  if (send.local_time === 1) return 'local_time_ab';
  if (send.best_hour === 1) return 'best_hour_ab';
  if (send.languages !== null) return 'ab_languages';
  return send.ab_test.winner_by === 'hand' || measuresIndividuals(db, config, send) ? null : 'ab_untracked';
}

/** Tracking modes in which opens and clicks are recorded for each recipient, not only in total. */
const INDIVIDUAL_MODES: readonly TrackingMode[] = ['person', 'consent'];

/** Returns true if opens and clicks of a single send will be recorded for individual recipients. */
export function measuresIndividuals(db: Db, config: Config, send: Pick<TestedSend, 'user_id' | 'tracking'>): boolean {
  return config.TRACKING === 'on' && send.tracking === 1 && INDIVIDUAL_MODES.includes(trackingMode(db, send.user_id));
}
