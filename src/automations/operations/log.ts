/** The operation that reads the log of an automation: what happened to which contact at each step, and why. */
import Type, { type Static } from 'typebox';
import { parseAddress } from '../../audience/contacts/addresses.ts';
import { STEP_KINDS, STEP_OUTCOMES } from '../../database/schema/index.ts';
import { codeOf, readStored } from '../../errors/stored.ts';
import { choice, email, integer, isoTimestampSchema, nullable, said } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { requireAutomation } from '../automations.ts';
import { ByUtr } from './automations.ts';

const DEFAULT_ROWS = 50;

const Line = Type.Object({
  id: integer({ description: 'Of the line, for the next page.' }),
  happened_at: isoTimestampSchema('When it happened, UTC.'),
  email: Type.String(),
  contact_id: nullable(integer()),
  run: integer({ description: 'Which of the entries of the contact it belongs to, from 1.' }),
  code: {
    ...choice('entered', 'finished', 'left', ...STEP_OUTCOMES),
    description:
      'The contact entered, completed the automation (finished) or exited (left), or what was done at a step.',
  },
  kind: { ...nullable(choice(...STEP_KINDS)), description: 'The kind of the step.' },
  step: nullable(Type.String(), 'utr of the step; null for entries and ends, and for steps that were removed.'),
  subject: nullable(Type.String()),
  reason: nullable(said(), 'Why the contact exited, or what decided at a step.'),
  reason_code: nullable(Type.String()),
});
/** A line of the log of an automation. */
export type LogLine = Static<typeof Line>;

type Row = Omit<LogLine, 'happened_at' | 'reason' | 'reason_code'> & { at: number; reason: string | null };

export const readLog = operation({
  name: 'Read what happened to contacts in an automation, newest first (addition)',
  description: 'A line for each entry, step and end of a contact. Lines are removed after `EVENTS_DAYS`.',
  role: 'viewer',
  input: Type.Object({
    ...ByUtr.properties,
    email: Type.Optional(email()),
    limit: Type.Optional(integer({ minimum: 1, maximum: 200, description: 'At most this many; 50 by default.' })),
    before_id: Type.Optional(integer({ description: 'Only older lines: next_before_id of the page before.' })),
  }),
  output: Type.Object({
    log: Type.Array(Line, { description: 'The lines, newest first.' }),
    next_before_id: nullable(integer(), 'The before_id of the next page; null at the end.'),
  }),
  run({ db, accountId }, { utr, email, limit = DEFAULT_ROWS, before_id: before }) {
    const { id: automation } = requireAutomation(db, accountId, utr);
    const which = email === undefined ? 'INDEXED BY enrolment_log_automation' : 'INDEXED BY enrolment_log_person';
    const theirs =
      email === undefined
        ? ''
        : 'AND l.address_id = (SELECT id FROM addresses WHERE user_id = @account AND normalized_email = @address)';
    const rows = db.$client
      .prepare<object, Row>(`
        SELECT l.id, l.happened_at AS at, ifnull(c.email, a.normalized_email) AS email, c.id AS contact_id, l.run, l.code, s.utr AS step, s.kind,
          nullif(s.subject, '') AS subject, l.reason
        FROM enrolment_log l ${which} CROSS JOIN addresses a ON a.id = l.address_id
          LEFT JOIN enrolments e ON e.automation_id = l.automation_id AND e.address_id = l.address_id AND e.run = l.run
          LEFT JOIN contacts c ON c.id = e.contact_id AND c.deleted_at IS NULL
          LEFT JOIN automation_schedules s ON s.id = l.step_id
        WHERE l.automation_id = @automation ${theirs} AND l.id < @before ORDER BY l.id DESC LIMIT @limit`)
      .all({
        automation,
        account: accountId,
        address: (email === undefined ? null : parseAddress(email))?.normalized ?? '',
        before: before ?? Number.MAX_SAFE_INTEGER,
        limit: limit + 1,
      });
    const log = rows.slice(0, limit).map(({ at, reason: storedReason, ...line }) => {
      const reason = readStored(storedReason);
      return { ...line, happened_at: isoTimestamp(new Date(at)), reason, reason_code: codeOf(reason) };
    });
    return { log, next_before_id: rows.length > limit ? (log.at(-1)?.id ?? null) : null };
  },
});
