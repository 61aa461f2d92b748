/**
 * Creates mailings and changes their state; no other file does. Other threads give a command by changing the mailing's row; the worker, on
 * the background thread, acknowledges the command in the same row.
 */
import { setTimeout } from 'node:timers/promises';
import type { Database, Statement } from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { DELIVERY_STATE, mailings, RESULT_HELD_CODES } from '../../database/schema/index.ts';
import { stored } from '../../errors/stored.ts';
import type { Held } from './holds.ts';

interface NewMailing
  extends Omit<
    typeof mailings.$inferInsert,
    'id' | 'state' | 'acknowledged_state' | 'held_code' | 'held_reason' | 'finished_at' | 'content'
  > {
  /** The frozen content as JSON. Storing bytes is cheaper than storing a string. */
  content: string | Uint8Array;
}
type Command = 'pause' | 'resume' | 'cancel';

/** The states from which each command is possible, and the state to which it leads. */
const TRANSITIONS = {
  pause: { from: ['enqueueing', 'sending', 'held'], to: 'paused' },
  resume: { from: ['paused', 'held'], to: 'sending' },
  cancel: { from: ['enqueueing', 'sending', 'paused', 'held'], to: 'cancelled' },
} as const;

const POLL_MS = 5;
const TIMEOUT_MS = 10_000;

/**
 * Stores a mailing and its tracked links. Returns its id. `targets` are the URLs that the links lead to; `urls` are the same URLs without
 * the link parameters that the mailing adds. A mailing with `enqueue_progress` begins by enqueueing its recipients; to a mailing without
 * it, recipients are added one by one. Call it inside a transaction.
 */
export function createMailing(
  db: Db,
  mailing: NewMailing,
  targets: readonly string[] = [],
  urls: readonly string[] = targets,
): number {
  const state = typeof mailing.enqueue_progress === 'string' ? 'enqueueing' : 'sending';
  const content = sql`CAST(${mailing.content} AS TEXT)`;
  const { id } = db
    .insert(mailings)
    .values({ ...mailing, content, state })
    .returning({ id: mailings.id })
    .get();
  db.$client
    .prepare(`
      INSERT INTO links (mailing_id, number, url, target)
      SELECT ?, u.key, u.value, nullif(t.value, u.value) FROM json_each(?) t JOIN json_each(?) u ON u.key = t.key`)
    .run(id, JSON.stringify(targets), JSON.stringify(urls));
  return id;
}

/**
 * Writes a command for a mailing. Returns false if the mailing's state does not allow it. A mailing that was paused while its recipients
 * were being enqueued resumes enqueueing.
 */
export function commandMailing(client: Database, mailingId: number, command: Command): boolean {
  const { from, to } = TRANSITIONS[command];
  const { changes } = client
    .prepare(`
      UPDATE mailings SET state = CASE WHEN ? = 'sending' AND enqueue_progress IS NOT NULL THEN 'enqueueing' ELSE ? END,
        held_code = NULL, held_reason = NULL
      WHERE id = ? AND state IN (SELECT value FROM json_each(?))`)
    .run(to, to, mailingId, JSON.stringify(from));
  return changes > 0;
}

/** Reopens a finished mailing, because recipients were queued again. */
export function reopenMailing(client: Database, mailingId: number): void {
  client
    .prepare("UPDATE mailings SET state = 'sending', finished_at = NULL WHERE id = ? AND state = 'done'")
    .run(mailingId);
}

/**
 * Makes a finished mailing enqueue its audience again. `progress` is an `EnqueueProgress` as JSON. Recipients that
 * are already in the mailing get no second mail.
 */
export function enqueueAgain(client: Database, mailingId: number, progress: string): void {
  client
    .prepare(
      "UPDATE mailings SET state = 'enqueueing', finished_at = NULL, enqueue_progress = ? WHERE id = ? AND state = 'done'",
    )
    .run(progress, mailingId);
}

/**
 * Resolves when the worker has acknowledged the mailing's state: from then on the worker starts nothing that the state forbids. Throws if
 * the worker has not acknowledged it within ten seconds.
 */
export async function waitForAcknowledgement(client: Database, mailingId: number): Promise<void> {
  const isAcknowledged = client.prepare('SELECT acknowledged_state = state FROM mailings WHERE id = ?').pluck();
  for (let waited = 0; waited < TIMEOUT_MS; waited += POLL_MS) {
    if (isAcknowledged.get(mailingId) !== 0) return;
    await setTimeout(POLL_MS);
  }
  throw new Error('the background thread does not acknowledge');
}

/** Ends enqueueing, because every recipient has a delivery. A cancelled mailing stays cancelled. */
export function endEnqueueing(client: Database, mailingId: number): void {
  client
    .prepare(
      "UPDATE mailings SET enqueue_progress = NULL, state = iif(state = 'enqueueing', 'sending', state) WHERE id = ?",
    )
    .run(mailingId);
}

/** Holds a sender's mailings that are being sent. Returns the ids of all its unfinished mailings. */
export function holdMailingsOfSender(client: Database, senderId: number, { held_code, held_reason }: Held): number[] {
  client
    .prepare(
      "UPDATE mailings SET state = 'held', held_code = ?, held_reason = ? WHERE sender_id = ? AND finished_at IS NULL AND state = 'sending'",
    )
    .run(held_code, stored(held_reason), senderId);
  return client
    .prepare<[number], number>('SELECT id FROM mailings WHERE sender_id = ? AND finished_at IS NULL')
    .pluck()
    .all(senderId);
}

/** Releases the mailings of these senders that were held because the sender was not verified. */
export function releaseMailingsOfSenders(client: Database, senderIds: readonly number[]): void {
  client
    .prepare(`
      UPDATE mailings SET state = 'sending', held_code = NULL, held_reason = NULL
      WHERE sender_id IN (SELECT value FROM json_each(?)) AND state = 'held' AND held_code = 'sender_unverified'`)
    .run(JSON.stringify(senderIds));
}

/** Pauses the mailings of automations that become drafts. */
export function pauseMailingsOfAutomations(client: Database, automationIds: readonly number[]): void {
  client
    .prepare(`
      UPDATE mailings SET state = 'paused', held_code = NULL, held_reason = NULL
      WHERE automation_id IN (SELECT value FROM json_each(?)) AND state IN ('sending', 'held')`)
    .run(JSON.stringify(automationIds));
}

/** Tries held mailings again at startup, because settings may have changed. Mailings held because of their results wait for their owner. */
export function retryHeldMailings(client: Database): void {
  client
    .prepare(`
      UPDATE mailings SET state = 'sending', held_code = NULL, held_reason = NULL
      WHERE finished_at IS NULL AND state = 'held' AND held_code NOT IN (SELECT value FROM json_each(?))`)
    .run(JSON.stringify(RESULT_HELD_CODES));
}

export interface OpenMailing {
  id: number;
  user_id: number;
  unsubscribe_group_id: number | null;
  owner_kind: (typeof mailings.$inferSelect)['owner_kind'];
  /** The only SMTP relay that may send the sender's mail; null if any relay may. */
  relay_id: number | null;
  /** 1 if only recipients of the mailing's first batch are claimed. */
  is_canary: 0 | 1;
  /** 1 if any recipient of the mailing is due. */
  is_due: 0 | 1;
}

/** Reads and changes the states of mailings in every round of the worker. */
export class MailingStates {
  readonly #open: Statement<{ steady: number }, OpenMailing>;
  readonly #cancelled: Statement<[], number>;
  readonly #unacknowledged: Statement<[], { id: number; state: string }>;
  readonly #acknowledge: Statement<[string, number]>;
  readonly #hold: Statement<[string, string, number]>;
  readonly #complete: Statement<{ now: string; mailing: number }>;

  constructor(client: Database) {
    // Recipients of a canary have a `due_at` below 0, and the rest of the mailing has 0 until the canary is released (due.ts).
    const isDue = (when: string) => `EXISTS (SELECT 1 FROM deliveries d INDEXED BY deliveries_queue
      WHERE d.mailing_id = mailings.id AND d.state = ${DELIVERY_STATE.queued} AND d.due_at ${when})`;
    this.#open = client.prepare(`
      SELECT mailings.id, user_id, unsubscribe_group_id, owner_kind,
        (SELECT relay_id FROM senders WHERE senders.id = iif(owner_kind = 'system', owner_id, sender_id)) AS relay_id,
        w.mailing_id IS NOT NULL AS is_canary,
        CASE WHEN w.mailing_id IS NULL THEN ${isDue('<= @steady')} WHEN w.stage = 'choosing' THEN 0
          ELSE ${isDue('< 0')} OR ${isDue('BETWEEN 1 AND @steady')} END AS is_due
      FROM mailings LEFT JOIN watched_mailings w ON w.mailing_id = mailings.id AND w.stage <> 'released'
      WHERE finished_at IS NULL AND state = 'sending' ORDER BY mailings.id`);
    this.#cancelled = client
      .prepare<[], number>("SELECT id FROM mailings WHERE finished_at IS NULL AND state = 'cancelled'")
      .pluck();
    this.#unacknowledged = client.prepare('SELECT id, state FROM mailings WHERE acknowledged_state <> state');
    this.#acknowledge = client.prepare('UPDATE mailings SET acknowledged_state = ? WHERE id = ?');
    // `acknowledged_state` becomes the empty text, so that neither the hold nor a release right after it counts as acknowledged.
    this.#hold = client.prepare(`
      UPDATE mailings SET state = 'held', acknowledged_state = '', held_code = ?, held_reason = ?
      WHERE id = ? AND state = 'sending'`);
    this.#complete = client.prepare(`
      UPDATE mailings SET state = iif(state = 'cancelled', state, 'done'), finished_at = @now
      WHERE id = @mailing AND finished_at IS NULL AND state IN ('sending', 'cancelled') AND enqueue_progress IS NULL
        AND (owner_kind <> 'schedule' OR state = 'cancelled' OR EXISTS (SELECT 1 FROM mailings newer
          WHERE newer.owner_kind IN ('single', 'schedule') AND newer.owner_kind = mailings.owner_kind AND newer.owner_id = mailings.owner_id AND newer.revision > mailings.revision))
        AND NOT EXISTS (SELECT 1 FROM deliveries WHERE mailing_id = @mailing AND state = ${DELIVERY_STATE.queued})
        AND NOT EXISTS (SELECT 1 FROM deliveries INDEXED BY deliveries_sending WHERE mailing_id = @mailing AND state = ${DELIVERY_STATE.sending})`);
  }

  /**
   * Returns the mailings that may be sent now. `steady` is the time by which recipients are due, in epoch milliseconds of the steady clock.
   */
  openMailings(steady: number): OpenMailing[] {
    return this.#open.all({ steady });
  }

  /** Returns the cancelled mailings whose recipients are not all in a final state yet. */
  cancelledMailings(): number[] {
    return this.#cancelled.all();
  }

  /** Returns the mailings whose state another thread has changed since the worker's last acknowledgement. */
  unacknowledged(): { id: number; state: string }[] {
    return this.#unacknowledged.all();
  }

  /** Records that the worker acts on this state. */
  acknowledge(mailingId: number, state: string): void {
    this.#acknowledge.run(state, mailingId);
  }

  /** Holds a mailing, for example when the SMTP relay rejects its sender, so that no recipient fails for that. */
  hold(mailingId: number, { held_code, held_reason }: Held): void {
    this.#hold.run(held_code, stored(held_reason), mailingId);
  }

  /**
   * Finishes a mailing once every recipient is in a final state. Returns true if this call finished the mailing. An automation's mailing
   * stays open for later recipients, until it is cancelled or a newer revision replaces it.
   */
  completeIfDone(mailingId: number, timestamp: string): boolean {
    return this.#complete.run({ now: timestamp, mailing: mailingId }).changes > 0;
  }
}
