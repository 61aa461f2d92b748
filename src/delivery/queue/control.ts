/** Pauses, resumes and cancels a mailing from another thread. The command is a change of the mailing's row, and so is the worker's acknowledgement. */
import { setTimeout } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';

type Command = 'pause' | 'resume' | 'cancel';

/** The states each command applies to, and the state it leads to. */
const TRANSITIONS = {
  pause: { from: ['layout', 'sending', 'held'], to: 'paused' },
  resume: { from: ['paused', 'held'], to: 'sending' },
  cancel: { from: ['layout', 'sending', 'paused', 'held'], to: 'cancelled' },
} as const;

const POLL_MS = 5;
const TIMEOUT_MS = 10_000;

/** Writes a command for a mailing; false when its state does not allow it. A mailing paused while recipients were being enqueued resumes with that. */
export function commandMailing(client: Database, mailingId: number, given: Command): boolean {
  const { from, to } = TRANSITIONS[given];
  const { changes } = client
    .prepare(`
      UPDATE mailings SET state = CASE WHEN ? = 'sending' AND layout IS NOT NULL THEN 'layout' ELSE ? END, held_reason = NULL
      WHERE id = ? AND state IN (SELECT value FROM json_each(?))`)
    .run(to, to, mailingId, JSON.stringify(from));
  return changes > 0;
}

/**
 * Resolves once the worker has acknowledged the mailing's state: from then on it starts nothing that the state forbids. Throws when
 * it has not done so within ten seconds.
 */
export async function waitForAcknowledgement(client: Database, mailingId: number): Promise<void> {
  const isAcknowledged = client.prepare('SELECT seen_state = state FROM mailings WHERE id = ?').pluck();
  for (let waited = 0; waited < TIMEOUT_MS; waited += POLL_MS) {
    if (isAcknowledged.get(mailingId) !== 0) return;
    await setTimeout(POLL_MS);
  }
  throw new Error('the background thread does not acknowledge');
}
