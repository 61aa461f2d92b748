/**
 * Operations on a single send as a whole: duplicating, deleting, cancelling, pausing, resuming, retrying failed deliveries, and
 * sending it again to contacts who did not open it.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import Type from 'typebox';
import { ineligibilityReason } from '../../audience/eligibility.ts';
import { recomputeSoon } from '../../audience/segments/recompute.ts';
import { insertSegment } from '../../audience/segments/segments.ts';
import { isMeasuredNow } from '../../audience/tracking-choice.ts';
import { inChunks } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import { recordId, recordUtr } from '../../database/ownership.ts';
import { abTests, DELIVERY_STATE, segments, senders, singleSends, type Target } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { requeueFailed } from '../../delivery/queue/ledger/ended-deliveries.ts';
import { commandMailing, reopenMailing, waitForAcknowledgement } from '../../delivery/queue/mailing-state.ts';
import { passLimits, releaseAll } from '../../delivery/watch/watched-mailings.ts';
import { conflict, invalid, notFound } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { sentence } from '../../errors/sentences.ts';
import { withinShare } from '../../http/account-share.ts';
import { flag, identifier, identifiersOrUtrs, integer, line, stringList } from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { MAX_LANGUAGES } from '../../templates/languages/versions.ts';
import { type Clock, isoTimestamp, NO_TIME } from '../../time/clock.ts';
import { copyAttachments } from '../attachments.ts';
import { deleteSends } from '../large-writes.ts';
import { asVariant } from '../launch.ts';
import {
  findSingleSendMailing,
  NO_DATE,
  NO_TIME_OF_DAY,
  requireConditions,
  requireSingleSend,
  type SingleSend,
} from '../single-sends.ts';
import { cancelBeforeStart, draftsAmong, hideSends, insertCopy, insertDraft, runAgain } from '../status.ts';

const MAX_WAIT_MS = 5000;
/** How long single sends are written in one transaction: SQLite writes the row of each as a whole, with up to 2 MiB of content. */
const STEPS_MS = 4;

const ByUtr = Type.Object({ utr: identifier('The single send.') });
const ByIds = { strIds: identifiersOrUtrs('Ids or utrs of single sends.') };

export const duplicateSingleSend = operation({
  name: 'Duplicate a single send',
  description: 'The copy is saved and not queued. The header Location of the answer names its details.',
  role: 'editor',
  input: ByUtr,
  output: Type.Object({ utr: Type.String() }),
  run({ db, clock, accountId }, { utr: originalUtr }) {
    const now = isoTimestamp(clock.now());
    const utr = randomUUID();
    inTransaction(db, () => {
      const { id, ...send } = requireSingleSend(db, accountId, originalUtr);
      const copy = insertCopy(db, {
        ...send,
        single_send_name: [...`Copy of ${send.single_send_name}`].slice(0, 255).join(''),
        utr,
        sent_at: NO_TIME,
        created_at: now,
        updated_at: now,
      });
      copyAttachments(db, accountId, id, copy);
    });
    return { utr };
  },
});

export const deleteSingleSend = operation({
  name: 'Delete a single send',
  description: 'One that is being sent is stopped first.',
  role: 'editor',
  input: ByUtr,
  run: (context, { utr }) => deleteAll(context, [requireSingleSend(context.db, context.accountId, utr).id]),
});

export const deleteSingleSends = operation({
  name: 'Delete several single sends',
  role: 'editor',
  input: Type.Object(ByIds),
  run: (context, { strIds }) => deleteAll(context, requireIds(context.db, context.accountId, strIds)),
});

/** Deletes single sends and cancels the mailings of running ones. When it resolves, no further delivery of them starts. */
async function deleteAll({ db, wake }: Context, ids: readonly number[]): Promise<void> {
  const cancelled = await deleteSends(db, ids);
  wake();
  for (const id of cancelled) await waitForAcknowledgement(db.$client, id);
}

export const hideSingleSends = operation({
  name: 'Hide single sends in the list of the dashboard, or show them again (addition)',
  description:
    'The other lists of the API still have them. Those that are scheduled or being sent stay visible, and a hidden one that is scheduled later is shown again.',
  role: 'editor',
  input: Type.Object({
    ...ByIds,
    is_hidden: Type.Unsafe<0 | 1>(flag('1: they are taken off the list. 0: they are put back.')),
  }),
  output: Type.Object({
    changed: integer({ description: 'How many single sends it was done to.' }),
    kept: integer({ description: 'How many stay on the list, because they are scheduled or being sent.' }),
  }),
  async run({ db, clock, accountId }, { strIds, is_hidden }) {
    const ids = requireIds(db, accountId, strIds);
    const hidden_at = is_hidden === 1 ? isoTimestamp(clock.now()) : null;
    const changed = await writeInSteps(db, ids, (id) => hideSends(db, [id], hidden_at));
    return { changed, kept: ids.length - changed };
  },
});

/** Used by the page that asks first. */
export const deleteDrafts = operation({
  name: 'Delete the drafts among several single sends',
  role: 'editor',
  input: Type.Object({ ...ByIds, dry_run: Type.Optional(Type.Unsafe<0 | 1>(flag('1: they are only counted.'))) }),
  async run({ db, accountId }, { strIds, dry_run }) {
    const ids = requireIds(db, accountId, strIds);
    const drafts = draftsAmong(db, ids);
    // A draft can be scheduled between two transactions, so each is looked at again in the transaction that deletes it.
    const remove = (id: number) =>
      db
        .delete(singleSends)
        .where(inArray(singleSends.id, draftsAmong(db, [id])))
        .run().changes;
    const deleted = dry_run === 1 ? drafts.length : await writeInSteps(db, drafts, remove);
    return { deleted, kept: ids.length - deleted };
  },
});

/**
 * Writes to single sends one by one, in short transactions. Returns the sum of what `write` returns. After a kill the
 * rest is not written.
 */
async function writeInSteps(db: Db, ids: readonly number[], write: (id: number) => number): Promise<number> {
  let changed = 0;
  const rest = ids.values();
  const step = () => {
    const until = performance.now() + STEPS_MS;
    while (performance.now() < until) {
      const { done, value } = rest.next();
      if (done === true) return false;
      changed += write(value);
    }
    return true;
  };
  await inChunks(db.$client, step, MAX_WAIT_MS);
  return changed;
}

/** The ids of the account's single sends with these ids or utrs. Throws 404 unless all of them are its own. */
function requireIds(db: Db, accountId: number, ids: readonly unknown[] = []): number[] {
  const utrs = ids.map(recordUtr).filter(Boolean);
  const rows = db.$client
    .prepare<Record<string, number | string>, { id: number; utr: string }>(`
      SELECT id, utr FROM single_sends WHERE user_id = @account
        AND (utr IN (SELECT value FROM json_each(@utrs)) OR id IN (SELECT value FROM json_each(@ids)))`)
    .all({ account: accountId, utrs: JSON.stringify(utrs), ids: JSON.stringify(ids.map(recordId)) });
  const known = new Set<unknown>(rows.flatMap(({ id, utr }) => [id, utr]));
  if (rows.length === 0 || !ids.every((one) => known.has(recordUtr(one) || recordId(one))))
    throw notFound('Record not found');
  return rows.map(({ id }) => id);
}

export const cancelSingleSend = operation({
  name: 'Cancel a single send',
  description:
    'After the answer nothing more is sent. A single send that was only queued becomes a draft, and a change can queue it again.',
  role: 'editor',
  input: ByUtr,
  async run({ db, clock, wake, accountId }, { utr }) {
    const send = requireSingleSend(db, accountId, utr);
    if (cancelBeforeStart(db, send.id, isoTimestamp(clock.now()))) return;
    const mailing = findSingleSendMailing(db, send);
    if (mailing === null || !commandMailing(db.$client, mailing.id, 'cancel'))
      throw conflict(sentence('not_cancellable'));
    wake();
    await waitForAcknowledgement(db.$client, mailing.id);
  },
});

export const pauseSingleSend = operation({
  name: 'Pause a single send',
  description: 'After the answer nothing is sent until it is resumed.',
  role: 'editor',
  input: ByUtr,
  async run({ db, wake, accountId }, { utr }) {
    const mailing = findSingleSendMailing(db, requireSingleSend(db, accountId, utr));
    if (mailing === null || !commandMailing(db.$client, mailing.id, 'pause')) throw conflict(sentence('not_pausable'));
    wake();
    await waitForAcknowledgement(db.$client, mailing.id);
  },
});

/** Resumes a paused or held single send. If it was held because of its results, or waits after its canary, all of it is released. */
export const resumeSingleSend = operation({
  name: 'Resume a single send',
  role: 'editor',
  input: ByUtr,
  async run({ db, wake, accountId }, { utr }) {
    const send = requireSingleSend(db, accountId, utr);
    const mailing = findSingleSendMailing(db, send);
    if (mailing === null) throw conflict(sentence('not_resumable'));
    if (isDeletedSender(db, send.sender_id)) throw conflict(sentence('only_cancellable'));
    const resume = () => {
      const goesOn = releaseAll(db.$client, mailing.id);
      if (!commandMailing(db.$client, mailing.id, 'resume') && !goesOn) throw conflict(sentence('not_resumable'));
    };
    inTransaction(db, resume);
    wake();
    await waitForAcknowledgement(db.$client, mailing.id);
  },
});

function isDeletedSender(db: Db, id: number): boolean {
  const sender = db.select({ deleted_at: senders.deleted_at }).from(senders).where(eq(senders.id, id)).get();
  return sender === undefined || sender.deleted_at !== null;
}

/**
 * Retries failed deliveries. The mail has the same Message-ID, so a server that did accept it the first time can recognize it. Bounced
 * recipients are excluded, because their address is suppressed. After a kill in the middle, the other deliveries are still failed.
 */
export const retryFailed = operation({
  name: 'Send a completed single send again to those for whom it failed (addition)',
  description:
    'The failed recipients go back into the queue of the same campaign, with the same Message-ID. Contacts that bounced, unsubscribed, were suppressed or deleted get nothing.',
  role: 'editor',
  input: ByUtr,
  output: Type.Object({ queued: integer({ description: 'Recipients who were queued again.' }) }),
  async run({ db, clock, wake, accountId }, { utr }) {
    const client = db.$client;
    const send = requireSingleSend(db, accountId, utr);
    const mailing = findSingleSendMailing(db, send);
    const hasFailed = client.prepare("SELECT 1 FROM mailings WHERE id = ? AND state = 'done' AND failed > 0");
    if (mailing === null || hasFailed.get(mailing.id) === undefined) throw conflict(sentence('not_retriable'));
    let queued = 0;
    const part = (rows: number) => {
      // A user who retries has seen the results.
      if (queued === 0) passLimits(client, mailing.id);
      const changes = requeueFailed(client, mailing.id, rows);
      if (changes > 0) {
        // The previous part may be sent already, so the mailing may be done again.
        reopenMailing(client, mailing.id);
        runAgain(db, send.id, isoTimestamp(clock.now()));
      }
      queued += changes;
      return changes === rows;
    };
    await inChunks(client, part, MAX_WAIT_MS);
    wake();
    await waitForAcknowledgement(client, mailing.id);
    return { queued };
  },
});

/** The number of deliveries that are examined at a time. */
const PAGE_ROWS = 2000;
const MAX_NAME = 255;
/** The maximum number of contact types, because a segment is added for each. */
const MAX_TYPES = 100;

export const countUnopened = operation({
  name: 'Count the contacts who got a finished single send and did not open it (addition)',
  description: 'Only those who may get mail of its unsubscribe group now. Opens and clicks of bots do not count.',
  role: 'viewer',
  input: ByUtr,
  output: Type.Object({ count: integer() }),
  async run({ db, accountId }, { utr }) {
    return { count: await withinShare(accountId, () => countUnopenedOf(db, accountId, utr)) };
  },
});

/**
 * Counts recipients who did not open. Other requests are answered after each part, which takes some milliseconds. Throws 404,
 * and 409 if the single send is not finished or its opens were not counted.
 */
async function countUnopenedOf(db: Db, accountId: number, utr: unknown): Promise<number> {
  const { send, mailingId } = requireOpensKnown(db, accountId, utr);
  const types = JSON.stringify(contactTypesOf(db, send));
  const page = db.$client.prepare<unknown[], { last: number | null; count: number }>(`
    SELECT max(d.id) AS last, count(*) FILTER (WHERE d.state = ${DELIVERY_STATE.accepted} AND d.by_person = 0
      AND d.is_unmeasured = 0 AND ${isMeasuredNow('d.address_id')}
      AND EXISTS (SELECT 1 FROM contacts c INDEXED BY contacts_address
        WHERE c.address_id = d.address_id AND c.deleted_at IS NULL AND c.contact_type_id IN (SELECT value FROM json_each(@types)))
      AND ${ineligibilityReason('d', '@group')} IS NULL) AS count
    FROM (SELECT * FROM deliveries INDEXED BY deliveries_mailing WHERE mailing_id = @mailing AND id > @after ORDER BY id LIMIT ${PAGE_ROWS}) d`);
  let count = 0;
  for (let after: number | null = 0; after !== null; await setImmediate()) {
    const row = page.get({ types, group: send.unsubscribe_group_id, mailing: mailingId, after });
    count += row?.count ?? 0;
    after = row?.last ?? null;
  }
  return count;
}

/** Creates a draft to contacts who did not open. Calling it again uses the same segments. */
export const resendToUnopened = operation({
  name: 'Make a draft for the contacts who did not open a finished single send (addition)',
  description:
    'It has the content of the single send and the given subject. Its targets are segments with the rule `got and did not open`, so a contact who opens the single send before the draft is sent does not get the draft.',
  role: 'editor',
  input: Type.Object({
    ...ByUtr.properties,
    subject: line(),
    subjects: Type.Optional(
      Type.Unsafe<string[]>({
        ...stringList({
          maxItems: MAX_LANGUAGES,
          description:
            'The new subjects of its versions in other languages, in their order; each that has a subject of its own needs one (addition).',
        }),
        empty: [],
      }),
    ),
  }),
  output: Type.Object({ utr: Type.String() }),
  async run({ db, clock, wake, accountId, actor }, { utr, subject, subjects = [] }) {
    requireConditions('subject', [subject]);
    requireConditions('subjects', subjects);
    const now = isoTimestamp(clock.now());
    const created = inTransaction(db, () => {
      const { send, mailingId } = requireOpensKnown(db, accountId, utr);
      const types = contactTypesOf(db, send);
      if (types.length === 0) throw conflict(sentence('resend_nobody'));
      if (types.length > MAX_TYPES) throw conflict(sentence('resend_many_types', { count: MAX_TYPES }));
      const existing = findRuleSegments(db, send, types);
      const ids = types.map((type) => existing.get(type) ?? addRuleSegment(db, clock, send, type));
      // The draft gets no sender name, because a launch uses the sender's own.
      const { preheader, template_id, template_json, template_html } = asVariant(db, send, winnerOrMail(db, mailingId));
      const { id, held_code: _code, held_reason: _reason, status: _status, ...copied } = send;
      const copy = randomUUID();
      const copyId = insertDraft(db, {
        ...copied,
        utr: copy,
        subject,
        preheader,
        template_id,
        template_json,
        template_html,
        languages: withSubjects(send.languages, subjects),
        recipient_id: ids.map((id): Target => ({ id: String(id), table: 'segments' })),
        exclude_specific_recipient_id: [],
        ab_test: null,
        schedule_type: 0,
        schedule_date: NO_DATE,
        schedule_time: NO_TIME_OF_DAY,
        local_time: 0,
        best_hour: 0,
        starts_at: clock.now().getTime(),
        sent_at: NO_TIME,
        changed_by: actor.userId,
        created_at: now,
        updated_at: now,
      });
      copyAttachments(db, accountId, id, copyId);
      return { copy, ids };
    });
    await recomputeSoon(db, created.ids, clock);
    wake();
    return { utr: created.copy };
  },
});

/** Returns versions with these subjects, in their order. Throws 422 if one that has a subject of its own gets none. */
function withSubjects(versions: SingleSend['languages'], subjects: readonly string[]): SingleSend['languages'] {
  return (
    versions?.map((version, at) => {
      const subject = subjects[at]?.trim() ?? '';
      if (subject === '' && version.subject !== '') throw invalid('subjects', messages.required('subjects'));
      return { ...version, subject };
    }) ?? null
  );
}

function requireOpensKnown(db: Db, accountId: number, utr: unknown): { send: SingleSend; mailingId: number } {
  const send = requireSingleSend(db, accountId, utr);
  const mailing = findSingleSendMailing(db, send);
  if (mailing?.state !== 'done') throw conflict(sentence('resend_unfinished'));
  if (send.tracking === 0 || !isMeasured(db, mailing.id)) throw conflict(sentence('resend_untracked'));
  return { send, mailingId: mailing.id };
}

/** Returns the number of the variant that won the A/B test of a mailing; 0, the mail itself, without a test or before the decision. */
function winnerOrMail(db: Db, mailingId: number): number {
  const where = eq(abTests.mailing_id, mailingId);
  return db.select({ winner: abTests.winner }).from(abTests).where(where).get()?.winner ?? 0;
}

/** Returns the ids of the existing contact types that the single send went to, in whole or in part. */
function contactTypesOf(db: Db, { user_id, recipient_id }: SingleSend): number[] {
  const idsOf = (table: Target['table']) =>
    recipient_id.filter((one) => one.table === table).map(({ id }) => Number(id));
  return db.$client
    .prepare<[Record<string, number | string>], number>(`
      SELECT id FROM contact_types WHERE user_id = @account AND deleted_at IS NULL AND (
        id IN (SELECT value FROM json_each(@types))
        OR id IN (SELECT s.contact_type_id FROM json_each(@segments) g CROSS JOIN segments s ON s.id = g.value)) ORDER BY id`)
    .pluck()
    .all({ account: user_id, types: JSON.stringify(idsOf('contacts')), segments: JSON.stringify(idsOf('segments')) });
}

const ruleOf = ({ utr }: SingleSend) => ({
  select_field: ['activity.mail'],
  select_operator: ['got and did not open'],
  value: [utr],
});

/** Returns the segments that have only this rule and no contacts added or removed by hand: their ids by contact type. */
function findRuleSegments(db: Db, send: SingleSend, types: readonly number[]): Map<number, number> {
  const rule = ruleOf(send);
  const same = and(
    eq(segments.user_id, send.user_id),
    inArray(segments.contact_type_id, [...types]),
    isNull(segments.deleted_at),
    eq(segments.select_field, rule.select_field),
    eq(segments.select_operator, rule.select_operator),
    eq(segments.value, rule.value),
    sql`NOT EXISTS (SELECT 1 FROM segment_recipients r WHERE r.segment_id = ${segments.id} AND (r.by_hand = 1 OR r.is_removed = 1))`,
  );
  const rows = db.select({ id: segments.id, type: segments.contact_type_id }).from(segments).where(same).all();
  return new Map(rows.map(({ id, type }) => [type, id]));
}

function addRuleSegment(db: Db, clock: Clock, send: SingleSend, type: number): number {
  const segment_name = [...`Did not open: ${send.single_send_name}`].slice(0, MAX_NAME).join('');
  return insertSegment(db, clock, send.user_id, { segment_name, contact_type_id: type, ...ruleOf(send) });
}

/** Returns true if the mailing has measured recipients and the account still records opens. */
function isMeasured(db: Db, mailingId: number): boolean {
  return (
    db.$client
      .prepare(`
        SELECT 1 FROM mailings m CROSS JOIN accounts u ON u.id = m.user_id
        WHERE m.id = ? AND (m.unmeasured < m.delivered OR m.delivered = 0) AND u.tracking IN ('person', 'consent')`)
      .get(mailingId) !== undefined
  );
}
