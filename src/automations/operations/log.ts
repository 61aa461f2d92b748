/** The operation that reads the log of an automation: what happened to each contact at each step, and why. */
import Type, { type Static } from 'typebox';
import { parseAddress } from '../../audience/contacts/addresses.ts';
import { STEP_KINDS, STEP_OUTCOMES } from '../../database/schema/index.ts';
import { codeOf, readStored } from '../../errors/stored.ts';
import {
  choice,
  DEFAULT_ROWS,
  email as emailSchema,
  integer,
  isoTimestampSchema,
  nullable,
  pageLimit,
  said,
} from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { requireAutomation } from '../automations.ts';
import { ByUtr } from './automations.ts';

const Line = Type.Object({
  id: integer({ description: 'The id of the line.' }),
  happened_at: isoTimestampSchema('The time of the event, UTC.'),
  email: Type.String(),
  contact_id: nullable(integer()),
  run: integer({ description: "The number of the contact's entry to which the line belongs, counted from 1." }),
  code: {
    ...choice('entered', 'finished', 'left', ...STEP_OUTCOMES),
    description:
      'entered: the contact entered; finished: the contact completed the automation; left: the contact exited; other codes: what was done at a step.',
  },
  kind: { ...nullable(choice(...STEP_KINDS)), description: 'The kind of the step.' },
  step: nullable(
    Type.String(),
    'utr of the step; null for entries, completions and exits, and for steps that were removed.',
  ),
  subject: nullable(Type.String()),
  reason: nullable(said(), 'Why the contact exited, or what decided at a step.'),
  reason_code: nullable(Type.String()),
});
/** A line of the log of an automation. */
export type LogLine = Static<typeof Line>;

type Row = Omit<LogLine, 'happened_at' | 'reason' | 'reason_code'> & { at: number; reason: string | null };

export const readLog = operation({
  name: 'Read what happened to contacts in an automation, newest first (addition)',
  description:
    'The log has a line for each entry, step, completion and exit of a contact. Lines are removed after `EVENTS_DAYS`.',
  role: 'viewer',
  input: Type.Object({
    ...ByUtr.properties,
    email: Type.Optional(emailSchema()),
    limit: pageLimit('lines'),
    before_id: Type.Optional(
      integer({ description: 'next_before_id of the previous page, for the lines older than that page.' }),
    ),
  }),
  output: Type.Object({
    log: Type.Array(Line, { description: 'The lines, newest first.' }),
    next_before_id: nullable(integer(), 'The before_id of the next page; null on the last page.'),
  }),
  run({ db, accountId }, { utr, email, limit = DEFAULT_ROWS, before_id: before }) {
    const { id: automation } = requireAutomation(db, accountId, utr);
    const index = email === undefined ? 'enrolment_log_automation' : 'enrolment_log_person';
    const ofContact =
      email === undefined
        ? ''
        : 'AND l.address_id = (SELECT id FROM addresses WHERE user_id = @account AND normalized_email = @address)';
    const rows = db.$client
      .prepare<object, Row>(`
        SELECT l.id, l.happened_at AS at, ifnull(c.email, a.normalized_email) AS email, c.id AS contact_id, l.run, l.code, s.utr AS step, s.kind,
          nullif(s.subject, '') AS subject, l.reason
        FROM enrolment_log l INDEXED BY ${index} CROSS JOIN addresses a ON a.id = l.address_id
          LEFT JOIN enrolments e ON e.automation_id = l.automation_id AND e.address_id = l.address_id AND e.run = l.run
          LEFT JOIN contacts c ON c.id = e.contact_id AND c.deleted_at IS NULL
          LEFT JOIN automation_schedules s ON s.id = l.step_id
        WHERE l.automation_id = @automation ${ofContact} AND l.id < @before ORDER BY l.id DESC LIMIT @limit`)
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
