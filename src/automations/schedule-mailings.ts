/** The mailings of a schedule: each time its content changes while it is live, a new mailing with the next revision is created. */
import { and, desc, eq } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { type automationSchedules, type automations, mailings } from '../database/schema/index.ts';
import type { Frozen } from '../delivery/content/freeze.ts';
import { createMailing } from '../delivery/queue/mailing-state.ts';
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';

type Automation = typeof automations.$inferSelect;
type Schedule = typeof automationSchedules.$inferSelect;

/** The newest mailing of a schedule, or null. */
export function findScheduleMailing(
  db: Db,
  scheduleId: number,
): Pick<typeof mailings.$inferSelect, 'id' | 'revision' | 'content' | 'sender_id' | 'unsubscribe_group_id'> | null {
  return (
    db
      .select({
        id: mailings.id,
        revision: mailings.revision,
        content: mailings.content,
        sender_id: mailings.sender_id,
        unsubscribe_group_id: mailings.unsubscribe_group_id,
      })
      .from(mailings)
      .where(and(eq(mailings.owner_kind, 'schedule'), eq(mailings.owner_id, scheduleId)))
      .orderBy(desc(mailings.revision))
      .limit(1)
      .get() ?? null
  );
}

/** Creates a mailing with the frozen content of a schedule, unless the newest one has the same content, sender and group. Call inside a transaction. */
export function createScheduleMailing(
  db: Db,
  automation: Automation,
  schedule: Schedule,
  { frozen, links: urls }: Frozen,
  now: string,
): void {
  const newest = findScheduleMailing(db, schedule.id);
  const before: FrozenContent | null = newest === null ? null : JSON.parse(newest.content);
  const group = Number(automation.unsubscribe_group_id);
  const isSame = newest?.sender_id === schedule.sender_id && newest.unsubscribe_group_id === group;
  if (before !== null && isSame && sameContent(before, frozen)) return;
  const mailing = {
    user_id: schedule.user_id,
    owner_kind: 'schedule' as const,
    owner_id: schedule.id,
    automation_id: automation.id,
    revision: (newest?.revision ?? 0) + 1,
    unsubscribe_group_id: group,
    sender_id: schedule.sender_id,
    // People who are already queued get the new design. It keeps the key of the Message-ID, since an earlier attempt may have used it.
    content: JSON.stringify({ ...frozen, message_key: before?.message_key ?? frozen.message_key }),
    created_at: now,
  };
  createMailing(db, mailing, urls);
}

/** Compares content without the sender's details, since every mail gets them as they are when it is sent. */
function sameContent(a: FrozenContent, b: FrozenContent): boolean {
  return JSON.stringify(a.content) === JSON.stringify(b.content);
}
