/** Whether a single send can have the A/B test that it has. */
import { trackingMode } from '../../audience/tracking-choice.ts';
import type { Config } from '../../config.ts';
import type { Db } from '../../database/open.ts';
import type { singleSends, TrackingMode } from '../../database/schema/index.ts';

type TestedSend = Pick<
  typeof singleSends.$inferSelect,
  'user_id' | 'tracking' | 'canary_percent' | 'local_time' | 'ab_test'
>;

/** The code of the sentence that says why a single send cannot be tested as it is; null when it can, and without a test. */
export function findAbTestProblem(
  db: Db,
  config: Config,
  send: TestedSend,
): 'ab_canary' | 'local_time_ab' | 'ab_untracked' | null {
  if (send.ab_test === null) return null;
  if (send.canary_percent > 0) return 'ab_canary';
  if (send.local_time === 1) return 'local_time_ab';
  return send.ab_test.winner_by === 'hand' || learnsOfPeople(db, config, send) ? null : 'ab_untracked';
}

/** What an account learns of people one by one, and not only in sums. */
const OF_PEOPLE: readonly TrackingMode[] = ['person', 'consent'];

/** Whether it will be known of anybody whether they opened a single send or clicked in it. */
export function learnsOfPeople(db: Db, config: Config, send: Pick<TestedSend, 'user_id' | 'tracking'>): boolean {
  return config.TRACKING === 'on' && send.tracking === 1 && OF_PEOPLE.includes(trackingMode(db, send.user_id));
}
