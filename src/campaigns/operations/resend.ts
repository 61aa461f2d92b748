/** Operations that send a completed single send again to the contacts who did not open it (additions to the contract). */
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import Type from 'typebox';
import { ineligibilityReason } from '../../audience/eligibility.ts';
import { recomputeSoon } from '../../audience/segments/recompute.ts';
import { insertSegment } from '../../audience/segments/segments.ts';
import { isMeasuredNow } from '../../audience/tracking-choice.ts';
import type { Db } from '../../database/open.ts';
import { abTests, DELIVERY_STATE, segments, type Target } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { conflict, invalid } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { sentence } from '../../errors/sentences.ts';
import { withinShare } from '../../http/account-share.ts';
import { identifier, integer, line, stringList } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { MAX_LANGUAGES } from '../../templates/languages/versions.ts';
import { type Clock, isoTimestamp, NO_TIME } from '../../time/clock.ts';
import { copyAttachments } from '../attachments.ts';
import { requireConditions } from '../single-send-errors.ts';
import { findSingleSendMailing, NO_DATE, NO_TIME_OF_DAY, requireSingleSend, type SingleSend } from '../single-sends.ts';
import { insertDraft } from '../status.ts';
import { asVariant } from '../variants.ts';

const ByUtr = Type.Object({ utr: identifier('The single send.') });

/** The number of deliveries that are read at once, which takes some milliseconds. */
const PAGE_ROWS = 2000;
/** The maximum number of characters in the name of a segment. */
const MAX_NAME = 255;
/** The maximum number of lists (contact types), because the draft needs a segment for each. */
const MAX_TYPES = 100;

export const countUnopened = operation({
  name: 'Count the contacts who got a completed single send and did not open it (addition)',
  description:
    'Counts only contacts who may get mail of its topic (unsubscribe group) now. Opens and clicks of bots do not count.',
  role: 'viewer',
  input: ByUtr,
  output: Type.Object({ count: integer() }),
  async run({ db, accountId }, { utr }) {
    return { count: await withinShare(accountId, () => countUnopenedOf(db, accountId, utr)) };
  },
});

/**
 * Counts the recipients who did not open a single send, in pages, so that other requests are answered in between. Throws 404 if there is
 * no such single send, and 409 if it is not completed or its opens were not counted.
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

/** Creates a draft for the contacts who did not open. A second draft for the same single send uses the same segments. */
export const resendToUnopened = operation({
  name: 'Create a draft for the contacts who did not open a completed single send (addition)',
  description:
    'The draft has the content of the single send and another subject. Its targets are segments with the rule `got and did not open`, so a contact who opens the single send before the draft is sent does not get the draft.',
  role: 'editor',
  input: Type.Object({
    ...ByUtr.properties,
    subject: line(),
    subjects: Type.Optional(
      Type.Unsafe<string[]>({
        ...stringList({
          maxItems: MAX_LANGUAGES,
          description:
            'The new subjects of the versions in other languages, in the order of the versions. A version with a subject of its own needs a new subject (addition).',
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
      // The sender name of the variant is left out, because a launch uses the name of the sender.
      const { preheader, template_id, template_json, template_html } = asVariant(db, send, winnerOrMail(db, mailingId));
      const { id, held_code: _code, held_reason: _reason, status: _status, ...copied } = send;
      const newUtr = randomUUID();
      const copyId = insertDraft(db, {
        ...copied,
        utr: newUtr,
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
      return { newUtr, ids };
    });
    await recomputeSoon(db, created.ids, clock);
    wake();
    return { utr: created.newUtr };
  },
});

/** Returns the versions with these subjects. Throws 422 if a version with a subject of its own gets an empty subject. */
function withSubjects(versions: SingleSend['languages'], subjects: readonly string[]): SingleSend['languages'] {
  return (
    versions?.map((version, at) => {
      const subject = subjects[at]?.trim() ?? '';
      if (subject === '' && version.subject !== '') throw invalid('subjects', messages.required('subjects'));
      return { ...version, subject };
    }) ?? null
  );
}

/** Returns a single send and the id of its mailing. Throws 404 if there is none, and 409 if it is not completed or its opens are unknown. */
function requireOpensKnown(db: Db, accountId: number, utr: unknown): { send: SingleSend; mailingId: number } {
  const send = requireSingleSend(db, accountId, utr);
  const mailing = findSingleSendMailing(db, send);
  if (mailing?.state !== 'done') throw conflict(sentence('resend_unfinished'));
  if (send.tracking === 0 || !isMeasured(db, mailing.id)) throw conflict(sentence('resend_untracked'));
  return { send, mailingId: mailing.id };
}

/** Returns the number of the variant that won the A/B test of a mailing; 0, which is the mail itself, if no variant has won. */
function winnerOrMail(db: Db, mailingId: number): number {
  const where = eq(abTests.mailing_id, mailingId);
  return db.select({ winner: abTests.winner }).from(abTests).where(where).get()?.winner ?? 0;
}

/** Returns the ids of the lists (contact types) that still exist and to which, or to whose segments, the single send went. */
function contactTypesOf(db: Db, { user_id, recipient_id }: SingleSend): number[] {
  const idsOf = (table: Target['table']) =>
    recipient_id.filter((target) => target.table === table).map(({ id }) => Number(id));
  return db.$client
    .prepare<[Record<string, number | string>], number>(`
      SELECT id FROM contact_types WHERE user_id = @account AND deleted_at IS NULL AND (
        id IN (SELECT value FROM json_each(@types))
        OR id IN (SELECT s.contact_type_id FROM json_each(@segments) g CROSS JOIN segments s ON s.id = g.value)) ORDER BY id`)
    .pluck()
    .all({ account: user_id, types: JSON.stringify(idsOf('contacts')), segments: JSON.stringify(idsOf('segments')) });
}

/** The rule of a segment with the contacts who got a single send and did not open it. */
const ruleOf = ({ utr }: SingleSend) => ({
  select_field: ['activity.mail'],
  select_operator: ['got and did not open'],
  value: [utr],
});

/** Returns the ids of the segments that have only this rule and no contacts added or removed by hand, by their list (contact type). */
function findRuleSegments(db: Db, send: SingleSend, types: readonly number[]): Map<number, number> {
  const rule = ruleOf(send);
  const isSame = and(
    eq(segments.user_id, send.user_id),
    inArray(segments.contact_type_id, [...types]),
    isNull(segments.deleted_at),
    eq(segments.select_field, rule.select_field),
    eq(segments.select_operator, rule.select_operator),
    eq(segments.value, rule.value),
    sql`NOT EXISTS (SELECT 1 FROM segment_recipients r WHERE r.segment_id = ${segments.id} AND (r.by_hand = 1 OR r.is_removed = 1))`,
  );
  const rows = db.select({ id: segments.id, type: segments.contact_type_id }).from(segments).where(isSame).all();
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
