/**
 * Operations that list, read and restore the versions of a mail (additions to the contract). A version is the present or an earlier content
 * of the mail. Triggers on the content write the versions.
 */
import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import type { SingleSendActionDeps } from '../../campaigns/single-sends.ts';
import { type MailContent, unpackContent } from '../../database/functions/packed-content.ts';
import type { Db } from '../../database/open.ts';
import { ownedRecord } from '../../database/ownership.ts';
import { automationSchedules, automations, mailVersions, singleSends, users } from '../../database/schema/index.ts';
import { renderTemplate } from '../../delivery/compiling/compile.ts';
import { ContentError } from '../../delivery/content/compiled-content.ts';
import { conflict, notFound } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { withinShare } from '../../http/account-share.ts';
import {
  choice,
  described,
  identifier,
  integer,
  isoTimestampSchema,
  nullable,
  stamps,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { saveContent } from '../designs/save-design.ts';
import { closeVersion, findTemplateCodes, type Mail, requireMail } from '../mail-content.ts';

type Version = typeof mailVersions.$inferSelect;

const ListedVersion = Type.Object({
  id: integer(),
  made_by: nullable(
    Type.String(),
    'The user who made the version; null for a program, a design link or a deleted user.',
  ),
  is_current: { ...zeroOrOne(), description: '1: the version is the present content of the e-mail.' },
  size: integer({ description: 'The size of the version in bytes.' }),
  created_at: isoTimestampSchema(),
  updated_at: isoTimestampSchema(),
});
/** A version without its content. */
export type ListedVersion = Static<typeof ListedVersion>;

const VersionedMail = Type.Object({
  kind: described(choice('single_send', 'automation_mail'), 'The kind of the e-mail.'),
  utr: Type.String(),
  name: Type.String(),
  subject: Type.String(),
});
const Versions = Type.Object({
  mail: VersionedMail,
  versions: Type.Array(ListedVersion, { description: 'The versions, the newest first.' }),
});
/** The versions of a mail, and the name and utr of its single send or automation. */
export type Versions = Static<typeof Versions>;

const ById = Type.Object({ version_id: identifier('The version.') });

/** Returns the versions of a mail, the newest first. A mail whose content was never changed has none. */
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
    .map((version, index) => ({ ...version, is_current: index === 0 ? 1 : 0 }));
}

/** Returns the account's version with this id, and the utr of its mail. Throws 404 if there is none or its automation was deleted. */
export function requireVersion(db: Db, accountId: number, id: unknown): Version & { utr: string } {
  const version = db
    .select()
    .from(mailVersions)
    .where(ownedRecord(mailVersions, id, accountId))
    .get();
  const mail = version && findMail(db, { kind: version.kind, id: version.owner_id });
  if (version === undefined || mail === undefined) throw notFound('Record not found');
  return { ...version, utr: mail.utr };
}

/** Returns the utr and the subject of a mail, and the utr (`campaign`) and name of its single send or automation. */
function findMail(db: Db, { kind, id }: Pick<Mail, 'kind' | 'id'>) {
  if (kind === 'single_send')
    return db
      .select({
        utr: singleSends.utr,
        campaign: singleSends.utr,
        name: singleSends.single_send_name,
        subject: singleSends.subject,
      })
      .from(singleSends)
      .where(eq(singleSends.id, id))
      .get();
  return db
    .select({
      utr: automationSchedules.utr,
      campaign: automations.utr,
      name: automations.automation_name,
      subject: automationSchedules.subject,
    })
    .from(automationSchedules)
    .innerJoin(automations, eq(automations.id, automationSchedules.automation_id))
    .where(and(eq(automationSchedules.id, id), isNull(automations.deleted_at)))
    .get();
}

/**
 * Returns the HTML of a version, with its placeholders and without what a mailing adds; empty if the version has no content. Throws
 * ContentError if the code of the version has a fault.
 */
export async function versionHtml(db: Db, { user_id, content }: Version): Promise<string> {
  const { template_id, template_json, template_html }: MailContent = unpackContent(content);
  if (template_json) return renderTemplate(user_id, template_json);
  return template_html || (findTemplateCodes(db, user_id, template_id)?.html_code ?? '');
}

/**
 * Restores a version as the content of its mail. This makes a new version, so that the restoring can be undone. `userId` is the user who
 * restores the version; null if this is not known. Throws 404 if there is no such version, and 409 as `saveDesign` does.
 */
export async function restoreContent(
  deps: SingleSendActionDeps,
  accountId: number,
  id: unknown,
  userId: number | null,
): Promise<void> {
  const { kind, owner_id, content } = requireVersion(deps.db, accountId, id);
  closeVersion(deps.db, kind, owner_id);
  const ownerKind = kind === 'single_send' ? 'single' : 'schedule';
  await saveContent(deps, ownerKind, owner_id, unpackContent(content), userId);
}

export const listMailVersions = operation({
  name: 'List the versions of an e-mail, the newest first (addition)',
  description:
    'A change of the content makes a new version, or changes the newest version if the same user made it in the last five minutes. An e-mail has at most 20 versions, and an account at most 50 MiB of versions; the oldest versions are removed.',
  role: 'viewer',
  input: Type.Object({ mail_utr: identifier('The single send, or the e-mail of an automation.') }),
  output: Versions,
  run({ db, accountId }, { mail_utr }) {
    const { kind, id } = requireMail(db, accountId, mail_utr);
    const mail = findMail(db, { kind, id });
    if (mail === undefined) throw new Error('a mail that was found is gone');
    const { campaign, name, subject } = mail;
    return { mail: { kind, utr: campaign, name, subject }, versions: listVersions(db, { kind, id }) };
  },
});

export const readVersion = operation({
  name: 'Read a version of an e-mail (addition)',
  role: 'viewer',
  input: ById,
  output: Type.Object({
    version: Type.Object({
      id: integer(),
      utr: Type.String(),
      template_id: integer(),
      template_json: Type.String(),
      template_html: Type.String(),
      html: Type.String({ description: 'The e-mail as HTML, with its merge tags.' }),
      ...stamps,
    }),
  }),
  async run({ db, accountId }, { version_id }) {
    const version = requireVersion(db, accountId, version_id);
    const { id, utr, content, created_at, updated_at } = version;
    const html = await withinShare(accountId, () => versionHtml(db, version)).catch(refuseBroken);
    return { version: { id, utr, ...unpackContent(content), html, created_at, updated_at } };
  },
});

export const restoreVersion = operation({
  name: 'Restore a version of an e-mail (addition)',
  description:
    'The earlier content stays a version, so that the restoring can be undone. A queued single send stays queued. Contacts who wait for an e-mail of a live automation get the restored version.',
  role: 'editor',
  input: ById,
  run: (context, { version_id }) =>
    withinShare(context.accountId, () => restoreContent(context, context.accountId, version_id, context.actor.userId)),
});

/** Throws 409 for code with a fault. */
function refuseBroken(error: unknown): never {
  if (error instanceof ContentError) throw conflict(sentence('content_broken', { problem: error.said }));
  throw error;
}
