/**
 * Removes data that forms no longer need. Submitted values are removed when their link expires, requests after a month or with their
 * form. With an unconfirmed request its mail and address are removed too, because a stranger may have typed the address. With a
 * confirmed request only the text of its mail is removed.
 */
import type { Database } from 'better-sqlite3';
import { inChunks } from '../database/bulk.ts';
import { formMails } from '../delivery/queue/ledger/ended-deliveries.ts';
import { DAY_MS, MINUTE_MS } from '../units.ts';
import { forgetMailboxes } from './mailboxes.ts';
import type { FormRequest } from './requests.ts';
import { forgetChallenges } from './used-challenges.ts';

/** How long requests are kept, so that an expired link still leads to a page that explains this. */
const KEPT_MS = 30 * DAY_MS;
/** The maximum number of rows that one transaction removes, so that it takes only some milliseconds. */
const ROWS = 100;
/** How long the removal pauses when nothing is left to remove. */
const IDLE_MS = MINUTE_MS;

/** SQL that anonymizes an address if nothing in the account refers to it any more. */
const FORGET_ADDRESS = `
  UPDATE addresses AS a SET normalized_email = 'forgotten:' || id WHERE id = @address
    AND NOT EXISTS (SELECT 1 FROM contacts WHERE address_id = @address)
    AND NOT EXISTS (SELECT 1 FROM suppressions WHERE address_id = @address)
    AND NOT EXISTS (SELECT 1 FROM consent_log WHERE address_id = @address)
    AND NOT EXISTS (SELECT 1 FROM form_requests WHERE address_id = @address)
    AND NOT EXISTS (SELECT 1 FROM transactional_mails WHERE address_id = @address)
    AND NOT EXISTS (SELECT 1 FROM unsubscribers WHERE address_id = @address AND unsubscribe_groups_id IS NULL)
    AND NOT EXISTS (SELECT 1 FROM unsubscribers WHERE address_id = @address AND unsubscribe_groups_id IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM segments s CROSS JOIN segment_recipients r ON r.segment_id = s.id AND r.address_id = @address
      WHERE s.user_id = a.user_id)`;

/** SQL for an address that other requests have too, so that the last of these requests removes the address. */
const PASS_ON_REMOVAL = 'UPDATE form_requests SET is_new_address = 1 WHERE address_id = @address';
const RETURNING = 'RETURNING id, state, address_id, is_new_address';

/** An SQL condition: the mail of a request still waits to be sent or refused. */
const IS_WAITING = `EXISTS (SELECT 1 FROM mailings m
  WHERE m.owner_kind = 'form' AND m.owner_id = form_requests.id AND m.finished_at IS NULL AND m.state <> 'held')`;

/** A request that was removed. */
type Removed = Pick<FormRequest, 'id' | 'state' | 'address_id' | 'is_new_address'>;

export class OldRequests {
  readonly #client: Database;
  /** The end of the present pause of the removal, in monotonic milliseconds. */
  #pausesUntil = Number.NEGATIVE_INFINITY;

  constructor(client: Database) {
    this.#client = client;
  }

  /**
   * Removes some old data in one short transaction. Returns true if more can be removed at once. `now` is in epoch milliseconds,
   * `monotonic` in monotonic milliseconds.
   */
  continueRemoval(now: number, monotonic: number): boolean {
    if (monotonic < this.#pausesUntil) return false;
    const removed = this.#client.transaction(() => removeSome(this.#client, now)).immediate();
    if (removed >= ROWS) return true;
    this.#pausesUntil = monotonic + IDLE_MS;
    return false;
  }
}

/** Removes some rows of each kind. Returns the largest number of rows that were removed of one kind. */
function removeSome(client: Database, now: number): number {
  const emptied = client
    .prepare(`UPDATE form_requests SET email = '', given = '{}' WHERE id IN (
      SELECT id FROM form_requests WHERE email <> '' AND expires_at < ? LIMIT ${ROWS})`)
    .run(now).changes;
  const old = client
    .prepare<[number], Removed>(
      `DELETE FROM form_requests WHERE id IN (SELECT id FROM form_requests WHERE asked_at < ? AND NOT ${IS_WAITING} LIMIT ${ROWS}) ${RETURNING}`,
    )
    .all(now - KEPT_MS);
  forgetMails(client, old);
  const mailboxes = forgetMailboxes(client, now, ROWS);
  const challenges = forgetChallenges(client, now, ROWS);
  return Math.max(emptied, old.length, mailboxes, challenges);
}

/**
 * Removes the requests made with a deleted form, some at a time. Of a request whose mail still waits, only the submitted values are
 * removed now. The request itself becomes an old one and is removed once its mail was refused.
 */
export async function removeRequests(client: Database, formId: number): Promise<void> {
  const remove = client.prepare<[number], Removed>(`DELETE FROM form_requests WHERE id IN (
    SELECT id FROM form_requests WHERE form_id = ? AND NOT ${IS_WAITING} LIMIT ${ROWS}) ${RETURNING}`);
  await inChunks(client, () => {
    const removed = remove.all(formId);
    forgetMails(client, removed);
    return removed.length > 0;
  });
  const makeOld = client.prepare(`UPDATE form_requests SET email = '', given = '{}', asked_at = 0 WHERE id IN (
    SELECT id FROM form_requests WHERE form_id = ? AND asked_at > 0 LIMIT ${ROWS})`);
  await inChunks(client, () => makeOld.run(formId).changes > 0);
}

/** Removes the mails of unconfirmed requests and the addresses that nothing else refers to, and the texts of confirmed requests' mails. */
function forgetMails(client: Database, removed: readonly Removed[]): void {
  const mails = formMails(client);
  const passOn = client.prepare(PASS_ON_REMOVAL);
  const forget = client.prepare(FORGET_ADDRESS);
  for (const { id, state, address_id: address, is_new_address: isNew } of removed) {
    if (state === 'confirmed') mails.empty(id);
    if (state !== 'asked') continue;
    mails.remove(id);
    if (isNew === 0) continue;
    passOn.run({ address });
    forget.run({ address });
  }
}
