/** How far a single send is. */
import type { Database } from 'better-sqlite3';
import { FINISHED, SHOWN_STATE, type SHOWN_STATES } from './shown-state.ts';

export interface Progress {
  state: (typeof SHOWN_STATES)[number];
  held_reason: string | null;
  /** Those enqueued so far; the number grows while the state is `preparing`. */
  recipients: number;
  /** Those with a final state. */
  finished: number;
  delivered: number;
}

/** Reads the counters of a single send by its id; null when it does not exist. */
export function findProgress(client: Database, sendId: number): Progress | null {
  const progress = client
    .prepare<[number], Progress>(`
      SELECT ${SHOWN_STATE} AS state, ifnull(m.held_reason, s.held_reason) AS held_reason, ifnull(m.recipients, 0) AS recipients,
        ifnull(${FINISHED}, 0) AS finished, ifnull(m.delivered, 0) AS delivered
      FROM single_sends s LEFT JOIN mailings m ON m.owner_kind = 'single' AND m.owner_id = s.id WHERE s.id = ?`)
    .get(sendId);
  return progress ?? null;
}
