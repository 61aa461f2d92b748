/** What a single send that is composed is and would reach now. */
import { and, eq } from 'drizzle-orm';
import { recomputeAndWait } from '../audience/segments/recompute.ts';
import { trackingMode } from '../audience/tracking-choice.ts';
import type { Db } from '../database/open.ts';
import { designTemplates, type singleSends, users } from '../database/schema/index.ts';
import { type AudienceCount, countAudience } from '../delivery/queue/enqueue-recipients.ts';
import { findCapPeriods, type SingleSendDeps } from './single-sends.ts';

type SingleSend = typeof singleSends.$inferSelect;

/** The name of the user who last changed a single send or something else; null where it was a program or the service, or the user is gone. */
export function changerName(
  db: Db,
  { user_id, changed_by }: Pick<SingleSend, 'user_id' | 'changed_by'>,
): string | null {
  const where = and(eq(users.account_id, user_id), eq(users.id, changed_by ?? 0));
  const user = db.select({ name: users.name, email: users.email }).from(users).where(where).get();
  return user === undefined ? null : user.name || user.email;
}

/** Where the content of a single send or a mail of an automation comes from: code of its own, its built-in template, or nowhere yet. */
export function contentSource(
  db: Db,
  { template_id, template_json, template_html }: Pick<SingleSend, 'template_id' | 'template_json' | 'template_html'>,
): 'json' | 'html' | 'template' | 'none' {
  if (template_json) return 'json';
  return template_html ? 'html' : templateSource(db, template_id);
}

/** Where the content of a mail without code of its own comes from. */
export function templateSource(db: Db, template_id: number): 'template' | 'none' {
  const template = db
    .select({ is_blank: designTemplates.is_blank })
    .from(designTemplates)
    .where(eq(designTemplates.id, template_id))
    .get();
  return template === undefined || template.is_blank === 1 ? 'none' : 'template';
}

/** Counts exactly how many people a single send would go to now, and how many not, by reason. Its segments are recomputed first. */
export async function countDraftAudience(
  deps: SingleSendDeps,
  send: Pick<
    SingleSend,
    'user_id' | 'recipient_id' | 'exclude_specific_recipient_id' | 'unsubscribe_group_id' | 'ignores_caps'
  >,
): Promise<AudienceCount> {
  const { db, clock } = deps;
  const { recipient_id: targets, exclude_specific_recipient_id: excluded, unsubscribe_group_id: group } = send;
  const segments = [...targets, ...excluded].filter(({ table }) => table === 'segments');
  await recomputeAndWait(
    db,
    segments.map(({ id }) => Number(id)),
    clock,
  );
  const progress = { targets, excluded, target: 0, after: 0 };
  const caps = findCapPeriods(deps, send.user_id, send.ignores_caps);
  const whose = { accountId: send.user_id, groupId: group };
  return countAudience(db.$client, whose, progress, caps, trackingMode(db, send.user_id));
}
