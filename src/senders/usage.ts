/** What uses a sender, for the question before it is deleted. */
import type { Database } from 'better-sqlite3';
import { AUTOMATION_STATUS, SINGLE_SEND_STATUS } from '../database/schema/index.ts';

interface SenderUsage {
  /** Single sends that wait for their time. */
  queued: number;
  /** Mailings that are not finished. */
  sending: number;
  live_automations: number;
  /** Single sends that are drafts. */
  drafts: number;
}

/** How many campaigns and mailings of its account use a sender. */
export function senderUsage(client: Database, accountId: number, senderId: number): SenderUsage {
  const usage = client
    .prepare<[Record<string, number>], SenderUsage>(`
      SELECT coalesce(sum(status = ${SINGLE_SEND_STATUS.queued}), 0) AS queued,
        coalesce(sum(status = ${SINGLE_SEND_STATUS.draft}), 0) AS drafts,
        (SELECT count(*) FROM mailings WHERE sender_id = @sender AND finished_at IS NULL) AS sending,
        (SELECT count(*) FROM automations a WHERE a.user_id = @account AND a.deleted_at IS NULL
           AND a.status = ${AUTOMATION_STATUS.live}
           AND EXISTS (SELECT 1 FROM automation_schedules s WHERE s.automation_id = a.id AND s.sender_id = @sender)) AS live_automations
      FROM single_sends WHERE user_id = @account AND sender_id = @sender`)
    .get({ account: accountId, sender: senderId });
  return usage ?? { queued: 0, sending: 0, live_automations: 0, drafts: 0 };
}
