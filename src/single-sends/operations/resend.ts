/** Sending a finished single send again, with a new subject, to those who got it and did not open it (additions): as a draft to segments with that rule. */
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
import { conflict } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { withinShare } from '../../http/account-share.ts';
import { identifier, integer, line } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { type Clock, isoTimestamp, NO_TIME } from '../../time/clock.ts';
import { asVariant } from '../freeze-variants.ts';
import { findSingleSendMailing, NO_DATE, NO_TIME_OF_DAY, requireSingleSend, type SingleSend } from '../single-sends.ts';
import { insertDraft } from '../status.ts';

/** Deliveries that are looked at in one stretch. */
const PAGE_ROWS = 2000;
const MAX_NAME = 255;
/** Contact types, for each of which a segment is added. */
const MAX_TYPES = 100;

const ByUtr = { utr: identifier('The single send.') };

export const countUnopened = operation({
  name: 'Count who got a finished single send and did not open it (addition)',
  description: 'Only those who may get mail of its group now. Opens and clicks of machines do not count as opening it.',
  role: 'viewer',
  input: Type.Object(ByUtr),
  output: Type.Object({ count: integer() }),
  async run({ db, accountId }, { utr }) {
    return { count: await withinShare(accountId, () => count(db, accountId, utr)) };
  },
});

/** Each part of a million takes some milliseconds. Throws 404, and 409 when it is not finished or its opens were not counted. */
async function count(db: Db, accountId: number, utr: unknown): Promise<number> {
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
    const found = page.get({ types, group: send.unsubscribe_group_id, mailing: mailingId, after });
    count += found?.count ?? 0;
    after = found?.last ?? null;
  }
  return count;
}

/** The segments are used again when it is asked again. */
export const resendToUnopened = operation({
  name: 'Make a draft to those who got a finished single send and did not open it (addition)',
  description:
    'It has the content of the single send and the given subject. Its targets are segments with the rule that somebody got it and did not open it, so whoever opens it before the draft is sent gets nothing.',
  role: 'editor',
  input: Type.Object({ ...ByUtr, subject: line() }),
  output: Type.Object({ utr: Type.String() }),
  async run({ db, clock, wake, accountId, actor }, { utr, subject }) {
    const now = isoTimestamp(clock.now());
    const made = inTransaction(db, () => {
      const { send, mailingId } = requireOpensKnown(db, accountId, utr);
      const types = contactTypesOf(db, send);
      if (types.length === 0) throw conflict(sentence('resend_nobody'));
      if (types.length > MAX_TYPES) throw conflict(sentence('resend_many_types', { count: MAX_TYPES }));
      const present = findRuleSegments(db, send, types);
      const ids = types.map((type) => present.get(type) ?? addRuleSegment(db, clock, send, type));
      // The sender's name is none of the draft: a launch takes that of the sender.
      const { preheader, template_id, template_json, template_html } = asVariant(db, send, winnerOrMail(db, mailingId));
      const { id: _id, held_code: _code, held_reason: _reason, status: _status, ...copied } = send;
      const copy = randomUUID();
      insertDraft(db, {
        ...copied,
        utr: copy,
        ...{ subject, preheader, template_id, template_json, template_html },
        recipient_id: ids.map((id): Target => ({ id: String(id), table: 'segments' })),
        exclude_specific_recipient_id: [],
        ab_test: null,
        schedule_type: 0,
        schedule_date: NO_DATE,
        schedule_time: NO_TIME_OF_DAY,
        local_time: 0,
        starts_at: clock.now().getTime(),
        sent_at: NO_TIME,
        changed_by: actor.userId,
        created_at: now,
        updated_at: now,
      });
      return { copy, ids };
    });
    await recomputeSoon(db, made.ids, clock);
    wake();
    return { utr: made.copy };
  },
});

function requireOpensKnown(db: Db, accountId: number, utr: unknown): { send: SingleSend; mailingId: number } {
  const send = requireSingleSend(db, accountId, utr);
  const mailing = findSingleSendMailing(db, send);
  if (mailing?.state !== 'done') throw conflict(sentence('resend_unfinished'));
  if (send.tracking === 0 || !isMeasured(db, mailing.id)) throw conflict(sentence('resend_untracked'));
  return { send, mailingId: mailing.id };
}

/** The number of the variant that won the A/B test of a mailing; 0, the mail itself, without a test or while it is undecided. */
function winnerOrMail(db: Db, mailingId: number): number {
  const where = eq(abTests.mailing_id, mailingId);
  return db.select({ winner: abTests.winner }).from(abTests).where(where).get()?.winner ?? 0;
}

/** The ids of the contact types that the single send went to, whole or in part, that there still are. */
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

/** The segments with only this rule and nobody added or removed by hand: their ids by contact type. */
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
  const found = db.select({ id: segments.id, type: segments.contact_type_id }).from(segments).where(same).all();
  return new Map(found.map(({ id, type }) => [type, id]));
}

function addRuleSegment(db: Db, clock: Clock, send: SingleSend, type: number): number {
  const segment_name = [...`Did not open: ${send.single_send_name}`].slice(0, MAX_NAME).join('');
  return insertSegment(db, clock, send.user_id, { segment_name, contact_type_id: type, ...ruleOf(send) });
}

/** Whether it is known of anybody whether they opened the mail, and opens are still recorded. */
function isMeasured(db: Db, mailingId: number): boolean {
  return (
    db.$client
      .prepare(`
        SELECT 1 FROM mailings m CROSS JOIN accounts u ON u.id = m.user_id
        WHERE m.id = ? AND (m.unmeasured < m.delivered OR m.delivered = 0) AND u.tracking IN ('person', 'consent')`)
      .get(mailingId) !== undefined
  );
}
