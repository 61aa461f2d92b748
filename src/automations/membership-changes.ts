/**
 * Applies the recorded changes of the targets of automations and of contacts who wait in them: contacts enter, leave, or wake. One page is
 * applied in one short transaction, so that a hundred thousand contacts who enter at once delay nothing else.
 */
import type { Database } from 'better-sqlite3';
import { enrolmentMoves } from '../delivery/queue/enrolment-state.ts';

/** The number of recorded changes that are applied in one transaction. */
const PAGE_ROWS = 250;

/** A recorded change of an automation's target or of a contact who waits in it. `happened_at`: epoch milliseconds. */
interface Change {
  id: number;
  automation_id: number;
  address_id: number;
  contact_id: number | null;
  change: 'joined' | 'let_in' | 'left' | 'goal' | 'exit' | 'arrived' | 'changed';
  step_id: number | null;
  event_key: string | null;
  happened_at: number;
}

/** The id of the account whose changes were applied last, so that accounts take turns. */
let lastAccount = 0;

/** SQL: the id of the next account with recorded changes after the given one; the first such account after the last; null if none has any. */
export const NEXT_CHANGED_ACCOUNT = `
  SELECT ifnull((SELECT min(user_id) FROM membership_changes WHERE user_id > ?), (SELECT min(user_id) FROM membership_changes))`;

/** SQL: recorded changes of an account that have not been applied, oldest first. */
export const MEMBERSHIP_CHANGES_PAGE = `
  SELECT m.id, m.automation_id, m.address_id, m.contact_id, m.change, m.step_id, m.event_key, m.happened_at
  FROM membership_changes m WHERE m.user_id = ? ORDER BY m.id LIMIT ?`;

/**
 * Applies the next page of recorded changes, in their order within each account: enrols contacts who joined, ends the
 * enrolments of contacts who left the target, and wakes contacts who waited for what happened. Accounts take turns, so that many
 * changes of one account do not delay others. Returns the number of applied changes. Joins are recorded only while the automation is
 * live; a recorded join still counts if the automation has been paused since then.
 */
export function applyMembershipChanges(client: Database): number {
  const nextAccount = client.prepare<[number], number | null>(NEXT_CHANGED_ACCOUNT).pluck();
  // Look before the transaction begins, because an immediate transaction takes the write lock from requests even if there is nothing to do.
  if (!nextAccount.get(lastAccount)) return 0;
  return client
    .transaction(() => {
      let applied = 0;
      for (
        let account = nextAccount.get(lastAccount);
        account && applied < PAGE_ROWS;
        account = nextAccount.get(account)
      ) {
        lastAccount = account;
        applied += applyChanges(client, account, PAGE_ROWS - applied);
      }
      return applied;
    })
    .immediate();
}

/** Applies up to `limit` recorded changes of an account. Returns the number of applied changes. */
function applyChanges(client: Database, account: number, limit: number): number {
  const page = client.prepare<[number, number], Change>(MEMBERSHIP_CHANGES_PAGE).all(account, limit);
  const { enter, leaveTarget, joinEndSegment, wake } = enrolmentMoves(client);
  for (const { id: _id, change, happened_at: at, ...row } of page) {
    if (change === 'joined' || change === 'let_in') enter({ ...row, at });
    else if (change === 'left') leaveTarget({ ...row, at });
    else if (change === 'arrived' || change === 'changed') wake({ ...row, at, change });
    else joinEndSegment({ ...row, at }, change);
  }
  client.prepare('DELETE FROM membership_changes WHERE user_id = ? AND id <= ?').run(account, page.at(-1)?.id);
  return page.length;
}
