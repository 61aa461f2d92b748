/** Stores what a design page made: in a single send, a mail of an automation, or an own template. */
import { eq } from 'drizzle-orm';
import { freezeSchedule } from '../automations/automations.ts';
import { createScheduleMailing } from '../automations/schedule-mailings.ts';
import type { MailContent } from '../database/functions/packed-content.ts';
import {
  AUTOMATION_STATUS,
  automationSchedules,
  automations,
  SINGLE_SEND_STATUS,
  singleSends,
} from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { conflict, notFound } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import type { SingleSendActionDeps } from '../single-sends/single-sends.ts';
import { changeUnsent } from '../single-sends/status.ts';
import { changeTemplate, requireTemplate, templateCodes } from '../templates/own-templates.ts';
import { isoTimestamp } from '../time/clock.ts';
import type { Design, TemplateCode } from './designs.ts';

/**
 * Stores new template code of the user with this id, if it is known. A mail of a live automation gets a new revision of its mailing; a
 * queued single send stays queued and is sent with the new code. Throws 409 when a single send has started, or a live automation could
 * not send this code.
 */
export async function saveDesign(
  deps: SingleSendActionDeps,
  design: Design,
  code: TemplateCode,
  userId: number | null,
): Promise<void> {
  if (design.kind === 'template') return saveTemplate(deps, design, code);
  await saveContent(deps, design.kind, design.id, code, userId);
}

/** Stores what a single send or a schedule is made of, like `saveDesign`. Also throws 404. */
export async function saveContent(
  deps: SingleSendActionDeps,
  kind: 'single' | 'schedule',
  id: number,
  content: TemplateCode & Partial<MailContent>,
  userId: number | null,
): Promise<void> {
  if (kind === 'single') saveSingleSend(deps, id, content, userId);
  else await saveSchedule(deps, id, content, userId);
  deps.wake();
}

async function saveTemplate(
  { db, clock }: SingleSendActionDeps,
  { id, user_id }: Design,
  { template_json, template_html }: TemplateCode,
): Promise<void> {
  const codes = await templateCodes(user_id, template_json, template_html);
  const save = () => changeTemplate({ db, clock }, requireTemplate(db, user_id, id), { codes });
  inTransaction(db, save);
}

function saveSingleSend(
  { db, clock }: SingleSendActionDeps,
  id: number,
  content: TemplateCode & Partial<MailContent>,
  userId: number | null,
): void {
  inTransaction(db, (tx) => {
    const send = tx.select({ status: singleSends.status }).from(singleSends).where(eq(singleSends.id, id)).get();
    if (send === undefined) throw notFound('Record not found');
    if (send.status >= SINGLE_SEND_STATUS.running) throw conflict(sentence('not_changeable'));
    changeUnsent(db, id, {
      ...content,
      template_json: content.template_json || null,
      template_html: content.template_html || null,
      changed_by: userId,
      updated_at: isoTimestamp(clock.now()),
    });
  });
}

async function saveSchedule(
  deps: SingleSendActionDeps,
  id: number,
  content: TemplateCode & Partial<MailContent>,
  userId: number | null,
): Promise<void> {
  const { db, clock } = deps;
  const read = () => {
    const schedule = db.select().from(automationSchedules).where(eq(automationSchedules.id, id)).get();
    if (schedule === undefined) throw notFound('Record not found');
    return schedule;
  };
  const schedule = { ...read(), ...content };
  const frozen = await freezeSchedule(deps, schedule);
  const now = isoTimestamp(clock.now());
  inTransaction(db, (tx) => {
    const before = read();
    const automation = tx.select().from(automations).where(eq(automations.id, before.automation_id)).get();
    if (automation?.status === AUTOMATION_STATUS.live) {
      if ('problem' in frozen) throw conflict(sentence('live_change_broken', frozen));
      createScheduleMailing(db, automation, schedule, frozen, now);
    }
    tx.update(automationSchedules)
      .set({ ...content, changed_by: userId, updated_at: now })
      .where(eq(automationSchedules.id, id))
      .run();
  });
}
