/** The versions of a mail: what it was made of before, and bringing that back. Triggers on the content write them. */
import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { ownedRecord } from '../database/ownership.ts';
import { automationSchedules, automations, mailVersions, singleSends, users } from '../database/schema/index.ts';
import { renderTemplate } from '../delivery/content/compile.ts';
import { notFound } from '../failure.ts';
import { type MailContent, unpackContent } from '../packed-content.ts';
import type { SingleSendActionDeps } from '../single-sends/actions.ts';
import { closeVersion, findTemplateCodes, type Mail } from '../templates/mail-content.ts';
import { saveContent } from './save-design.ts';

type Version = typeof mailVersions.$inferSelect;

/** A version without its content. */
export interface ListedVersion {
  id: number;
  /** Who made it: null for a program, a design link, or a user who is gone. */
  made_by: string | null;
  /** 1: it is what the mail is made of now. */
  is_current: 0 | 1;
  size: number;
  created_at: string;
  updated_at: string;
}

/** The versions of a mail, the newest first. None where its content was never changed. */
export function listVersions(db: Db, { kind, id }: Pick<Mail, 'kind' | 'id'>): ListedVersion[] {
  return db
    .select({
      id: mailVersions.id,
      made_by: sql<string | null>`coalesce(nullif(${users.name}, ''), ${users.email})`,
      size: mailVersions.size,
      created_at: mailVersions.created_at,
      updated_at: mailVersions.updated_at,
    })
    .from(mailVersions)
    .leftJoin(users, and(eq(users.id, mailVersions.made_by), eq(users.account_id, mailVersions.user_id)))
    .where(and(eq(mailVersions.kind, kind), eq(mailVersions.owner_id, id)))
    .orderBy(desc(mailVersions.id))
    .all()
    .map((version, at) => ({ ...version, is_current: at === 0 ? 1 : 0 }));
}

/** The account's version with this id; throws 404, also when its automation is deleted. */
export function requireVersion(db: Db, accountId: number, id: unknown): Version & { utr: string } {
  const version = db
    .select()
    .from(mailVersions)
    .where(ownedRecord(mailVersions, id, accountId))
    .get();
  const mail = version && findOwner(db, version);
  if (version === undefined || mail === undefined) throw notFound('Record not found');
  return { ...version, ...mail };
}

function findOwner(db: Db, { kind, owner_id }: Version): { utr: string } | undefined {
  if (kind === 'single_send')
    return db.select({ utr: singleSends.utr }).from(singleSends).where(eq(singleSends.id, owner_id)).get();
  return db
    .select({ utr: automationSchedules.utr })
    .from(automationSchedules)
    .innerJoin(automations, eq(automations.id, automationSchedules.automation_id))
    .where(and(eq(automationSchedules.id, owner_id), isNull(automations.deleted_at)))
    .get();
}

/** The HTML of a version, with its placeholders and without what a mailing adds; empty where it has no content. Throws ContentError. */
export async function versionHtml(db: Db, { user_id, content }: Version): Promise<string> {
  const { template_id, template_json, template_html }: MailContent = unpackContent(content);
  if (template_json) return renderTemplate(user_id, template_json);
  return template_html || (findTemplateCodes(db, user_id, template_id)?.html_code ?? '');
}

/**
 * Makes a version the content of its mail again, which is a version of its own, so that it can be undone. Throws 404, and 409 as
 * `saveDesign` does.
 */
export async function restoreVersion(
  deps: SingleSendActionDeps,
  accountId: number,
  id: unknown,
  userId: number | null,
): Promise<void> {
  const { kind, owner_id, content } = requireVersion(deps.db, accountId, id);
  closeVersion(deps.db, kind, owner_id);
  const owner = kind === 'single_send' ? 'single' : 'schedule';
  await saveContent(deps, owner, owner_id, unpackContent(content), userId);
}
