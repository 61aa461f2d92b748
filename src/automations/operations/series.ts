/** An automation as it is composed (addition): who enters, its mails in their order, and who is in it now. */
import Type, { type Static } from 'typebox';
import type { Db } from '../../database/open.ts';
import { AUTOMATION_STATUS } from '../../database/schema/index.ts';
import { designToken } from '../../designs/designs.ts';
import { choice, integer, isoTimestampSchema, nullable, stamps, zeroOrOne } from '../../http/requests/schemas.ts';
import { changesNothing } from '../../operations/callers.ts';
import { operation } from '../../operations/operation.ts';
import { changerName, templateSource } from '../../single-sends/drafts.ts';
import { type Automation, type ListedSchedule, listSchedules, requireAutomation } from '../automations.ts';
import { ByUtr, TARGET } from './automations.ts';
import { WAITING_TYPES } from './schedules.ts';

const SeriesMail = Type.Object({
  utr: Type.String(),
  subject: Type.String(),
  preheader: Type.String(),
  sender_id: integer(),
  waiting_period: integer(),
  waiting_type: choice(...WAITING_TYPES),
  template_id: integer(),
  preview_img: Type.String(),
  content: choice('none', 'template', 'json', 'html'),
  html_size: integer({ description: 'Bytes of the HTML that it was given; 0 without any.' }),
  tracking: zeroOrOne(),
  ...stamps,
  changed_by: nullable(Type.String()),
  design_url: Type.String(),
});
const Series = Type.Object({
  utr: Type.String(),
  automation_name: Type.String(),
  automation_for: Type.String({ description: `${TARGET}; empty: none yet.` }),
  unsubscribe_group_id: integer(),
  exit_criteria: integer(),
  ignores_caps: zeroOrOne(),
  automation_type: integer({ description: '1: welcome, 2: custom.' }),
  is_live: zeroOrOne('1: it is live.'),
  updated_at: isoTimestampSchema(),
  changed_by: nullable(Type.String()),
  people: Type.Object({
    waiting: integer({ description: 'Number of people who are in it and wait.' }),
    due_now: integer({
      description: 'Number of them whose time has come: while it is paused, they get a mail at once when it is live.',
    }),
    queued: integer({ description: 'Number of them for whom a mail is queued.' }),
  }),
  mails: Type.Array(SeriesMail),
});
export type Series = Static<typeof Series>;
export type SeriesMail = Static<typeof SeriesMail>;

export const readSeries = operation({
  name: 'Read an automation as it is composed, with its mails in their order (addition)',
  role: 'viewer',
  input: ByUtr,
  output: Type.Object({ series: Series }),
  run(context, { utr }) {
    const { db, clock, accountId, actor, publicUrl, tokens } = context;
    const automation = requireAutomation(db, accountId, utr);
    const { automation_for: target, automation_for_table: table } = automation;
    const now = clock.now();
    const designUrl = (mail: string) =>
      `${publicUrl()}/design/${designToken(tokens, 'schedule', mail, actor.userId ?? 0, now)}`;
    const series = {
      ...automation,
      automation_for: target === 0 ? '' : `${table}_${target}`,
      unsubscribe_group_id: Number(automation.unsubscribe_group_id),
      is_live: automation.status === AUTOMATION_STATUS.live ? (1 as const) : (0 as const),
      changed_by: changerName(db, automation),
      people: peopleInSeries(db, automation, now),
      mails: listSchedules(db, automation.id).map((schedule) => ({
        ...shown(db, schedule),
        design_url: changesNothing(context) ? '' : designUrl(schedule.utr),
      })),
    };
    return { series };
  },
});

/** A mail without its template: where its content comes from, and who changed it. */
function shown(db: Db, schedule: ListedSchedule): Omit<SeriesMail, 'design_url'> {
  const { json_size, html_size, template_id, tracking } = schedule;
  const ownCode = json_size > 0 ? 'json' : html_size > 0 ? 'html' : null;
  return {
    ...schedule,
    tracking: tracking === 0 ? 0 : 1,
    content: ownCode ?? templateSource(db, template_id),
    changed_by: changerName(db, schedule),
  };
}

/** The people in an automation: those who wait, how many of them are due at `now`, and for how many a mail is queued. */
function peopleInSeries(db: Db, { id }: Automation, now: Date) {
  const row = db.$client
    .prepare<Record<string, number>, { waiting: number; due_now: number; queued: number }>(`
      SELECT (SELECT ifnull(sum(people), 0) FROM enrolment_counts WHERE automation_id = @id AND state = 'active') AS waiting,
        (SELECT count(*) FROM enrolments INDEXED BY enrolments_due
          WHERE automation_id = @id AND state = 'active' AND delivery_id IS NULL AND due_at <= @now) AS due_now,
        (SELECT ifnull(sum(people), 0) FROM enrolment_counts WHERE automation_id = @id AND state = 'active' AND is_queued = 1) AS queued`)
    .get({ id, now: now.getTime() });
  return { waiting: row?.waiting ?? 0, due_now: row?.due_now ?? 0, queued: row?.queued ?? 0 };
}
