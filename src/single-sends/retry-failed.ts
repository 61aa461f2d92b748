/** Sends a completed single send again to those for whom it failed. */
import type { Database } from 'better-sqlite3';
import { isoTimestamp } from '../clock.ts';
import { inChunks } from '../database/bulk.ts';
import { requeueFailed } from '../delivery/queue/ledger/requeue-failed.ts';
import { reopenMailing, waitForAcknowledgement } from '../delivery/queue/mailing-state.ts';
import { passLimits } from '../delivery/watch/watched-mailings.ts';
import { conflict } from '../failure.ts';
import { SENTENCES } from '../sentences.ts';
import { findSingleSendMailing, requireSingleSend, type SingleSendActionDeps } from './actions.ts';
import { runAgain } from './status.ts';

const MAX_WAIT_MS = 5000;

/**
 * Puts the failed recipients back into the queue of the same mailing and gives how many. It is the same mail with the same Message-ID, so
 * that a server which did take it the first time can recognise it. Bounced recipients stay out: their address is suppressed. After a
 * kill in the middle, the rest are still failed. Throws 404, and 409 when the send is not completed or nobody failed.
 */
export async function retryFailed(deps: SingleSendActionDeps, accountId: number, utr: unknown): Promise<number> {
  const { db, clock, wake } = deps;
  const send = requireSingleSend(db, accountId, utr);
  const mailing = findSingleSendMailing(db, send);
  if (mailing === null || !hasFailed(db.$client, mailing.id)) throw conflict(SENTENCES.not_retriable);
  let queued = 0;
  const part = (rows: number) => {
    // Who sends again has seen the results.
    if (queued === 0) passLimits(db.$client, mailing.id);
    const changes = requeueFailed(db.$client, mailing.id, rows);
    if (changes > 0) {
      // The part before may be sent already, and the mailing done again.
      reopenMailing(db.$client, mailing.id);
      runAgain(db, send.id, isoTimestamp(clock.now()));
    }
    queued += changes;
    return changes === rows;
  };
  await inChunks(db.$client, part, MAX_WAIT_MS);
  wake();
  await waitForAcknowledgement(db.$client, mailing.id);
  return queued;
}

/** Whether a mailing is done and has failed recipients. */
function hasFailed(client: Database, mailingId: number): boolean {
  const row = client.prepare("SELECT 1 FROM mailings WHERE id = ? AND state = 'done' AND failed > 0").get(mailingId);
  return row !== undefined;
}
