/** Single sends as records: creates and finds them, and counts their audience. launch.ts launches them when they are due. */
import { randomUUID } from 'node:crypto';
import { and, eq, sql } from 'drizzle-orm';
import { recomputeAndWait } from '../audience/segments/recompute.ts';
import { checkedTargets } from '../audience/segments/segments.ts';
import { trackingMode } from '../audience/tracking-choice.ts';
import type { Config } from '../config.ts';
import { readMailCaps } from '../database/accounts.ts';
import type { Db } from '../database/open.ts';
import { ownedBy, ownedRecord, recordUtr } from '../database/ownership.ts';
import { preparedOnce } from '../database/prepared.ts';
import {
  designTemplates,
  type LanguageVersion,
  mailings,
  SINGLE_SEND_STATUS,
  senders,
  singleSends,
  type Target,
  users,
} from '../database/schema/index.ts';
import { senderAddress } from '../delivery/compiling/freeze.ts';
import { type AudienceCount, countAudience } from '../delivery/queue/audience-counts.ts';
import { type CapPeriods, capPeriods } from '../delivery/timing/mail-caps.ts';
import { conflict, invalid, notFound } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import { withTemplateCopied } from '../templates/mail-content.ts';
import { type Clock, isoTimestamp, NO_TIME } from '../time/clock.ts';
import { toUtc } from '../time/zones.ts';
import { parseScheduleDate, parseScheduleTime } from './schedule.ts';
import { insertQueued } from './status.ts';

export type SingleSend = typeof singleSends.$inferSelect;

export interface SingleSendDeps {
  db: Db;
  clock: Clock;
  config: Config;
}

/** The parameters of a request that creates or changes a single send. Targets are texts such as contacts_1. */
export interface SingleSendInput {
  template_id: number;
  template_json?: string;
  template_html?: string;
  sender_id: number;
  unsubscribe_group_id: number;
  single_send_name: string;
  subject: string;
  preheader: string;
  recipient_id: string[];
  exclude_specific_recipient_id?: string[];
  schedule_type: 0 | 1;
  schedule_date?: string;
  schedule_time?: string;
  local_time?: 0 | 1;
  best_hour?: 0 | 1;
  tracking?: 0 | 1;
  canary_percent?: number;
  canary_minutes?: number;
  ignores_caps?: 0 | 1;
}

export interface SingleSendActionDeps extends SingleSendDeps {
  wake(): void;
}

/** The stored date of a single send without a schedule. */
export const NO_DATE = '0000-00-00';
/** The stored time of a single send without a schedule. */
export const NO_TIME_OF_DAY = '00:00:00';

/**
 * Throws 422 if a single send has two options that exclude each other. A single send in the recipients' own time zones or at their
 * best hours cannot have a canary or an A/B test, because these wait for results, which would be too late for some recipients.
 * It cannot be sent both in the recipients' time zones and at their best hours either.
 */
export function requireOneClock(
  send: Partial<Pick<typeof singleSends.$inferSelect, 'local_time' | 'best_hour' | 'canary_percent' | 'ab_test'>>,
): void {
  const { local_time, best_hour, canary_percent = 0, ab_test } = send;
  if (local_time === 1 && best_hour === 1) throw invalid('best_hour', sentence('best_hour_local'));
  if (local_time === 1 && canary_percent > 0) throw invalid('local_time', sentence('local_time_canary'));
  if (local_time === 1 && ab_test) throw invalid('local_time', sentence('local_time_ab'));
  if (best_hour === 1 && canary_percent > 0) throw invalid('best_hour', sentence('best_hour_canary'));
  if (best_hour === 1 && ab_test) throw invalid('best_hour', sentence('best_hour_ab'));
}

/**
 * Stores a validated single send with its versions and queues it. Returns its utr. `userId` is the user who creates it, or null for a
 * program.
 */
export function createSingleSend(
  deps: SingleSendDeps,
  accountId: number,
  fields: SingleSendInput,
  { userId, languages = null }: { userId: number | null; languages?: LanguageVersion[] | null },
): string {
  const { db, clock } = deps;
  const input = withTemplateCopied(db, accountId, fields);
  const now = isoTimestamp(clock.now());
  const utr = randomUUID();
  const columns = singleSendColumns(deps, accountId, input);
  requireOneClock(columns);
  insertQueued(db, {
    ...columns,
    template_json: input.template_json || null,
    template_html: input.template_html || null,
    exclude_specific_recipient_id: checkedTargets(input.exclude_specific_recipient_id ?? []),
    user_id: accountId,
    languages,
    changed_by: userId,
    utr,
    sent_at: NO_TIME,
    created_at: now,
    updated_at: now,
  });
  return utr;
}

/** Returns targets in the form of requests: contacts_<contact type id> or segments_<segment id>. */
export function targetNames(targets: readonly Target[]): string[] {
  return targets.map(({ id, table }) => `${table}_${id}`);
}

const sendQuery = preparedOnce((db) =>
  db
    .select()
    .from(singleSends)
    .where(and(ownedBy(singleSends, sql.placeholder('accountId')), eq(singleSends.utr, sql.placeholder('utr'))))
    .prepare(),
);

/** Returns the account's single send with this utr. Throws 404 if there is none. */
export function requireSingleSend(db: Db, accountId: number, utr: unknown): SingleSend {
  const send = sendQuery(db).get({ accountId, utr: recordUtr(utr) });
  if (send === undefined) throw notFound('Record not found');
  return send;
}

/** Returns the mailing of a single send; null if it has not been launched. */
export function findSingleSendMailing(
  db: Db,
  send: Pick<SingleSend, 'id'>,
): Pick<typeof mailings.$inferSelect, 'id' | 'sender_id' | 'state' | 'held_code' | 'held_reason' | 'findings'> | null {
  const where = and(eq(mailings.owner_kind, 'single'), eq(mailings.owner_id, send.id));
  const columns = {
    id: mailings.id,
    sender_id: mailings.sender_id,
    state: mailings.state,
    held_code: mailings.held_code,
    held_reason: mailings.held_reason,
    findings: mailings.findings,
  };
  return db.select(columns).from(mailings).where(where).get() ?? null;
}

/**
 * Returns the account's single send with this utr, to be changed in the same transaction. Throws 404 if there is none, and 409 if it
 * is running or completed, or if its `updated_at` is not `unchangedSince`. An empty `unchangedSince` is ignored.
 */
export function requireChangeable(
  db: Db,
  accountId: number,
  utr: unknown,
  unchangedSince: string | undefined,
): SingleSend {
  const send = requireSingleSend(db, accountId, utr);
  if (send.status >= SINGLE_SEND_STATUS.running) throw conflict(sentence('not_changeable'));
  if (unchangedSince && unchangedSince !== send.updated_at) throw conflict(sentence('changed_meanwhile'));
  return send;
}

/** Returns the frequency caps that would apply to a single send of the account now; null if there are none, or the send ignores them. */
function findCapPeriods({ db, clock, config }: SingleSendDeps, account: number, ignoresCaps: 0 | 1): CapPeriods | null {
  const caps = ignoresCaps === 1 ? [] : readMailCaps(db, account);
  if (caps.length === 0) return null;
  return capPeriods(caps, clock.now().getTime(), config.TIME_ZONE);
}

/** Returns the columns of a single send that describe its sender. They are empty for sender id 0, which means that none is chosen. */
export function senderColumns(db: Db, accountId: number, senderId: number) {
  const sender = db
    .select()
    .from(senders)
    .where(ownedRecord(senders, senderId, accountId))
    .get();
  return {
    sender_id: senderId,
    from_sender: sender?.from_email ?? '',
    reply_to: sender?.reply_to_email ?? '',
    sender_name: sender?.from_name ?? null,
    sender_address: sender === undefined ? null : senderAddress(db, sender),
  };
}

/** Returns the columns of a single send, except its code and its exclusions, for a request with all required fields. */
export function singleSendColumns({ db, clock, config }: SingleSendDeps, accountId: number, input: SingleSendInput) {
  const date = parseScheduleDate(input.schedule_date ?? '');
  const time = parseScheduleTime(input.schedule_time ?? '');
  const schedule =
    input.schedule_type === 1 && date !== null && time !== null
      ? { schedule_date: date, schedule_time: time, starts_at: toUtc(date, time, config.TIME_ZONE).getTime() }
      : {
          schedule_date: NO_DATE,
          schedule_time: NO_TIME_OF_DAY,
          starts_at: clock.now().getTime() + config.RECALL_SECONDS * 1000,
        };
  return {
    template_id: input.template_id,
    recipient_id: checkedTargets(input.recipient_id),
    ...senderColumns(db, accountId, input.sender_id),
    unsubscribe_group_id: input.unsubscribe_group_id,
    single_send_name: input.single_send_name,
    subject: input.subject,
    preheader: input.preheader,
    schedule_type: input.schedule_type,
    ...schedule,
    ...(input.schedule_type === 0 && { local_time: 0 as const }),
    ...(input.schedule_type === 1 && input.local_time !== undefined && { local_time: input.local_time }),
    ...(input.best_hour !== undefined && { best_hour: input.best_hour }),
    ...(input.tracking !== undefined && { tracking: input.tracking }),
    ...(input.canary_percent !== undefined && { canary_percent: input.canary_percent }),
    ...(input.canary_minutes !== undefined && { canary_minutes: input.canary_minutes }),
    ...(input.ignores_caps !== undefined && { ignores_caps: input.ignores_caps }),
  };
}

/** Returns the name of the user who last changed a record; null if it was a program or the service, or if the user was removed. */
export function changerName(
  db: Db,
  { user_id, changed_by }: Pick<SingleSend, 'user_id' | 'changed_by'>,
): string | null {
  const where = and(eq(users.account_id, user_id), eq(users.id, changed_by ?? 0));
  const user = db.select({ name: users.name, email: users.email }).from(users).where(where).get();
  return user === undefined ? null : user.name || user.email;
}

/** Returns the source of the content of a mail: its own code, its built-in template, or none yet. */
export function contentSource(
  db: Db,
  { template_id, template_json, template_html }: Pick<SingleSend, 'template_id' | 'template_json' | 'template_html'>,
): 'json' | 'html' | 'template' | 'none' {
  if (template_json) return 'json';
  return template_html ? 'html' : templateSource(db, template_id);
}

/** Returns the source of the content of a mail without its own code. A blank template counts as none. */
export function templateSource(db: Db, template_id: number): 'template' | 'none' {
  const template = db
    .select({ is_blank: designTemplates.is_blank })
    .from(designTemplates)
    .where(eq(designTemplates.id, template_id))
    .get();
  return template === undefined || template.is_blank === 1 ? 'none' : 'template';
}

/**
 * Counts the recipients that a single send would have now, and the contacts that it would skip, by reason. Recomputes the segments of
 * the single send first, so the count is exact.
 */
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
