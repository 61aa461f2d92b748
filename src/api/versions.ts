/** The versions of a mail (addition): what a single send, or a mail of an automation, was made of before. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { eq } from 'drizzle-orm';
import Type from 'typebox';
import type { Db } from '../database/open.ts';
import { automationSchedules, automations, singleSends } from '../database/schema/index.ts';
import { ContentError } from '../delivery/content/compiled-content.ts';
import type { Deps } from '../deps.ts';
import { listVersions, requireVersion, restoreVersion, versionHtml } from '../designs/versions.ts';
import { conflict } from '../failure.ts';
import { withinShare } from '../http/account-share.ts';
import {
  choice,
  done,
  identifier,
  integer,
  isoTimestampSchema,
  nullable,
  successWith,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { unpackContent } from '../packed-content.ts';
import { sentence } from '../sentences.ts';
import { type Mail, requireMail } from '../templates/mail-content.ts';

const tags = ['Versions'];

const listed = {
  id: integer(),
  made_by: nullable(Type.String()),
  is_current: zeroOrOne(),
  size: integer(),
  created_at: isoTimestampSchema(),
  updated_at: isoTimestampSchema(),
};

const VersionedMail = Type.Object({
  kind: choice('single_send', 'automation_mail'),
  utr: Type.String(),
  name: Type.String(),
  subject: Type.String(),
});

const Version = Type.Object({
  id: integer(),
  utr: Type.String(),
  template_id: integer(),
  template_json: Type.String(),
  template_html: Type.String(),
  html: Type.String(),
  created_at: isoTimestampSchema(),
  updated_at: isoTimestampSchema(),
});

const ById = Type.Object({ version_id: identifier('The version.') });

export const versionRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { db } = deps;

  app.get(
    '/versions/list',
    {
      schema: {
        tags,
        summary: 'List the versions of a mail, the newest first (addition)',
        description:
          'A change of the content makes a version, unless the same person made one within five minutes: then it goes into that one. A mail has 20 at most; those of an account take 50 MiB at most, and the oldest make room.',
        querystring: Type.Object({ mail_utr: identifier('The single send, or the mail of an automation.') }),
        response: successWith({ mail: VersionedMail, versions: Type.Array(Type.Object(listed)) }),
      },
    },
    async (request) => {
      const mail = requireMail(db, request.accountId, request.query.mail_utr);
      const message = { mail: describeMail(db, mail), versions: listVersions(db, mail) };
      return { status: 'success' as const, message };
    },
  );

  app.get(
    '/versions/details',
    {
      schema: {
        tags,
        summary: 'Read a version of a mail (addition)',
        querystring: ById,
        response: successWith({ version: Version }),
      },
    },
    async (request) => {
      const version = requireVersion(db, request.accountId, request.query.version_id);
      const { id, utr, content, created_at, updated_at } = version;
      const html = await withinShare(request.accountId, () => versionHtml(db, version)).catch(refuseBroken);
      const message = { version: { id, utr, ...unpackContent(content), html, created_at, updated_at } };
      return { status: 'success' as const, message };
    },
  );

  app.post(
    '/versions/restore',
    {
      schema: {
        tags,
        summary: 'Bring a version of a mail back (addition)',
        description:
          'What the mail was made of until then stays a version, so that this can be undone. A queued single send stays queued; people who wait for a mail of a live automation get the version.',
        body: ById,
        response: done,
      },
    },
    async ({ accountId, actor, body }) => {
      await withinShare(accountId, () => restoreVersion(deps, accountId, body.version_id, actor.userId));
      return { status: 'success' as const, message: 'Restored Successfully' };
    },
  );
};

/** What the mail is called, and the utr of the campaign it belongs to. */
function describeMail(db: Db, { kind, id }: Mail) {
  const found =
    kind === 'single_send'
      ? db
          .select({ utr: singleSends.utr, name: singleSends.single_send_name, subject: singleSends.subject })
          .from(singleSends)
          .where(eq(singleSends.id, id))
          .get()
      : db
          .select({ utr: automations.utr, name: automations.automation_name, subject: automationSchedules.subject })
          .from(automationSchedules)
          .innerJoin(automations, eq(automations.id, automationSchedules.automation_id))
          .where(eq(automationSchedules.id, id))
          .get();
  if (found === undefined) throw new Error('a mail that was found is gone');
  return { kind, ...found };
}

function refuseBroken(error: unknown): never {
  if (error instanceof ContentError) throw conflict(sentence('content_broken', { problem: error.message }));
  throw error;
}
