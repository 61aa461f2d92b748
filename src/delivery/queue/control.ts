/** Stopping and resuming a mailing from another thread: the command is a row, the worker's acknowledgement too. */
import { setTimeout } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';

type Command = 'pause' | 'resume' | 'cancel';

/** The states a command applies to, and the one it leads to. */
const TRANSITIONS = {
  pause: { from: ['layout', 'sending', 'held'], to: 'paused' },
  resume: { from: ['paused', 'held'], to: 'sending' },
  cancel: { from: ['layout', 'sending', 'paused', 'held'], to: 'cancelled' },
} as const;

const POLL_MS = 5;
const TIMEOUT_MS = 10_000;

/** Writes the command for a mailing; false when its state does not allow it. A pause during layout resumes into layout. */
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
 * Resolves once the worker has acknowledged the mailing's state: from then on it starts nothing that state forbids. Throws
 * when the worker does not answer within ten seconds.
 */
export async function waitForAcknowledgement(client: Database, mailingId: number): Promise<void> {
  const isAcknowledged = client.prepare('SELECT seen_state = state FROM mailings WHERE id = ?').pluck();
  for (let waited = 0; waited < TIMEOUT_MS; waited += POLL_MS) {
    if (isAcknowledged.get(mailingId) !== 0) return;
    await setTimeout(POLL_MS);
  }
  throw new Error('the background thread does not acknowledge');
}
