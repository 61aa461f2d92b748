/** Saves the content of single sends, schedules and own templates. */
import { eq } from 'drizzle-orm';
import { createScheduleMailing, freezeSchedule } from '../../automations/schedule-mailings.ts';
import type { SingleSendActionDeps } from '../../campaigns/single-sends.ts';
import { changeUnsent } from '../../campaigns/status.ts';
import type { MailContent } from '../../database/functions/packed-content.ts';
import {
  AUTOMATION_STATUS,
  automationSchedules,
  automations,
  SINGLE_SEND_STATUS,
  singleSends,
} from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { conflict, notFound } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { changeTemplate, requireTemplate, templateCodes } from '../own-templates.ts';
import type { Design, TemplateCode } from './designs.ts';

/** The parts of a mail to store. Absent parts do not change. */
type StoredContent = TemplateCode & Partial<MailContent & Pick<Design, 'subject' | 'preheader'>>;

/**
 * Stores new template code, and the subject and preview text unless they are absent. `userId` is the user who made the change; null if
 * this is not known. A mail of a live automation gets a new revision of its mailing. A queued single send stays queued and is sent with
 * the new code. Throws 409 if a single send has started, or if a live automation could not send this code. `requireCurrent` runs in the transaction that stores the code; if it throws, nothing is stored.
 */
export async function saveDesign(
  deps: SingleSendActionDeps,
  design: Design,
  code: TemplateCode & Partial<Pick<Design, 'subject' | 'preheader'>>,
  userId: number | null,
  requireCurrent: () => void,
): Promise<void> {
  if (design.kind === 'template') return saveTemplate(deps, design, code, requireCurrent);
  await saveContent(deps, design.kind, design.id, code, userId, requireCurrent);
}

/** Stores the content of a single send or a schedule as `saveDesign` does. Also throws 404 if the record was deleted. */
export async function saveContent(
  deps: SingleSendActionDeps,
  kind: 'single' | 'schedule',
  id: number,
  content: StoredContent,
  userId: number | null,
  requireCurrent: () => void = () => undefined,
): Promise<void> {
  if (kind === 'single') saveSingleSend(deps, id, content, userId, requireCurrent);
  else await saveSchedule(deps, id, content, userId, requireCurrent);
  deps.wake();
}

async function saveTemplate(
  { db, clock }: SingleSendActionDeps,
  { id, user_id }: Design,
  { template_json, template_html }: TemplateCode,
  requireCurrent: () => void,
): Promise<void> {
  const codes = await templateCodes(user_id, template_json, template_html);
  inTransaction(db, () => {
    requireCurrent();
    changeTemplate({ db, clock }, requireTemplate(db, user_id, id), { codes });
  });
}

function saveSingleSend(
  { db, clock }: SingleSendActionDeps,
  id: number,
  content: StoredContent,
  userId: number | null,
  requireCurrent: () => void,
): void {
  inTransaction(db, (tx) => {
    requireCurrent();
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
  content: StoredContent,
  userId: number | null,
  requireCurrent: () => void,
): Promise<void> {
  const { db, clock } = deps;
  const read = () => {
    const schedule = db.select().from(automationSchedules).where(eq(automationSchedules.id, id)).get();
    if (schedule === undefined) throw notFound('Record not found');
    return schedule;
  };
  const schedule = { ...read(), ...content };
  const current = db.select().from(automations).where(eq(automations.id, schedule.automation_id)).get();
  if (current === undefined) throw notFound('Record not found');
  const frozen = await freezeSchedule(deps, current, schedule);
  const now = isoTimestamp(clock.now());
  inTransaction(db, (tx) => {
    requireCurrent();
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
