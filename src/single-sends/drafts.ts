/** Composing a single send step by step: a draft that may still lack everything, and changes that do not queue it. */
import { randomUUID } from 'node:crypto';
import { and, asc, desc, eq } from 'drizzle-orm';
import { recomputeAndWait } from '../audience/segments/recompute.ts';
import { checkedTargets } from '../audience/segments/targets.ts';
import { trackingMode } from '../audience/tracking-choice.ts';
import { isoTimestamp, NO_TIME } from '../clock.ts';
import type { Db } from '../database/open.ts';
import { ownedBy } from '../database/ownership.ts';
import {
  designTemplates,
  SINGLE_SEND_STATUS,
  senders,
  type singleSends,
  unsubscribeGroups,
  users,
} from '../database/schema/index.ts';
import { type AudienceCount, countAudience } from '../delivery/queue/enqueue-recipients.ts';
import { Failure, type FieldErrors } from '../failure.ts';
import { messages } from '../field-errors.ts';
import { closeVersion, withTemplateCopied } from '../templates/mail-content.ts';
import {
  type Change,
  findCapPeriods,
  NO_DATE,
  NO_TIME_OF_DAY,
  requireChangeable,
  requireOneClock,
  requireStillTestable,
  type SingleSendDeps,
  type SingleSendInput,
  senderColumns,
} from './single-sends.ts';
import { changeUnsent, insertDraft } from './status.ts';

type SingleSend = typeof singleSends.$inferSelect;

/** What a change may set. */
export type DraftInput = Partial<
  Omit<SingleSendInput, 'schedule_type' | 'schedule_date' | 'schedule_time' | 'local_time'>
>;

/** What a send needs to be queued. */
const NEEDED = ['single_send_name', 'subject', 'preheader', 'sender_id', 'unsubscribe_group_id'] as const;

/** Stores a draft that has only a name, the account's first sender, a verified one if possible, and its first group; gives its utr. */
export function createDraft(
  { db, clock }: SingleSendDeps,
  accountId: number,
  name: string,
  { userId }: Change,
): string {
  const now = isoTimestamp(clock.now());
  const utr = randomUUID();
  const sender = db
    .select({ id: senders.id })
    .from(senders)
    .where(ownedBy(senders, accountId))
    .orderBy(desc(senders.is_verified), asc(senders.id))
    .limit(1)
    .get();
  const group = db
    .select({ id: unsubscribeGroups.id })
    .from(unsubscribeGroups)
    .where(ownedBy(unsubscribeGroups, accountId))
    .orderBy(asc(unsubscribeGroups.id))
    .limit(1)
    .get();
  const blank = db
    .select({ id: designTemplates.id })
    .from(designTemplates)
    .where(eq(designTemplates.is_blank, 1))
    .orderBy(asc(designTemplates.id))
    .limit(1)
    .get();
  insertDraft(db, {
    user_id: accountId,
    changed_by: userId,
    utr,
    single_send_name: name,
    subject: '',
    preheader: '',
    template_id: blank?.id ?? 1,
    recipient_id: [],
    exclude_specific_recipient_id: [],
    ...senderColumns(db, accountId, sender?.id ?? 0),
    unsubscribe_group_id: group?.id ?? 0,
    schedule_type: 0,
    schedule_date: NO_DATE,
    schedule_time: NO_TIME_OF_DAY,
    starts_at: clock.now().getTime(),
    sent_at: NO_TIME,
    created_at: now,
    updated_at: now,
  });
  return utr;
}

/**
 * Changes what is given of a single send, which stays a draft or queued; gives the new `updated_at`. Throws 404; 409 when it is running
 * or completed, or was changed since `unchangedSince`; and 422 when it is queued and would lack something, or when its A/B test would not be
 * possible any more.
 */
export function saveDraft(
  { db, clock, config }: SingleSendDeps,
  accountId: number,
  utr: unknown,
  input: DraftInput,
  { userId, unchangedSince }: Change,
): string {
  return db.transaction(
    () => {
      const before = requireChangeable(db, accountId, utr, unchangedSince);
      const { recipient_id, exclude_specific_recipient_id, sender_id, template_json, template_html, ...plain } =
        withTemplateCopied(db, accountId, input);
      const columns = {
        ...plain,
        ...(recipient_id && { recipient_id: checkedTargets(recipient_id) }),
        ...(exclude_specific_recipient_id && {
          exclude_specific_recipient_id: checkedTargets(exclude_specific_recipient_id),
        }),
        ...(sender_id !== undefined && senderColumns(db, accountId, sender_id)),
        // A new MJML or HTML template replaces whichever of the two was there.
        ...((template_json !== undefined || template_html !== undefined) && {
          template_json: template_json || null,
          template_html: template_html || null,
        }),
        changed_by: userId,
        updated_at: isoTimestamp(clock.now()),
      };
      requireOneClock({ ...before, ...columns });
      requireStillTestable({ db, config }, before, columns);
      // Choosing a template replaces everything, so what was there before is kept.
      if (input.template_id !== undefined) closeVersion(db, 'single_send', before.id);
      if (before.status === SINGLE_SEND_STATUS.queued) requireComplete({ ...before, ...columns });
      changeUnsent(db, before.id, columns);
      return columns.updated_at;
    },
    { behavior: 'immediate' },
  );
}

function requireComplete(send: SingleSend): void {
  const missing: string[] = NEEDED.filter((field) => !send[field]);
  if (send.recipient_id.length === 0) missing.push('recipient_id');
  if (missing.length === 0) return;
  const errors: FieldErrors = Object.fromEntries(missing.map((field) => [field, [messages.required(field)]]));
  throw new Failure(422, errors);
}

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

/** Counts exactly how many people a stored single send would go to now, and how many not, by reason. Its segments are recomputed first. */
export async function countDraftAudience(
  deps: SingleSendDeps,
  send: SingleSend,
): Promise<Omit<AudienceCount, 'contact_id'>> {
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
  const mode = trackingMode(db, send.user_id);
  const { contact_id: _, ...audience } = await countAudience(db.$client, whose, progress, caps, mode);
  return audience;
}
