/** Templates of an account's own (addition): made of a mail, of another template, of given code, or blank. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { fold } from '../database/fold.ts';
import { ownedRecord } from '../database/ownership.ts';
import { readRecord, recordObject } from '../database/record-json.ts';
import { designTemplates, ownTemplates } from '../database/schema/index.ts';
import { ContentError } from '../delivery/content/compiled-content.ts';
import type { Deps } from '../deps.ts';
import { designToken } from '../designs/designs.ts';
import { conflict, notFound } from '../failure.ts';
import { withinShare } from '../http/account-share.ts';
import { changesNothing } from '../http/callers.ts';
import { sendList, sendRecord } from '../http/list-response.ts';
import {
  done,
  eitherOrderQuery,
  flag,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  MAX_TEMPLATE_CHARACTERS,
  nullable,
  stamps,
  successWith,
  text,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { sentence } from '../sentences.ts';
import { templateErrors } from '../single-sends/single-sends.ts';
import { findTemplateCodes, OWN_PREVIEW, requireMail, type TemplateCodes } from '../templates/mail-content.ts';
import { addTemplate, changeTemplate, requireTemplate, templateCodes } from '../templates/own-templates.ts';
import { type AuditAction, audit } from '../users/audit.ts';

const tags = ['Templates'];

const ListedTemplate = Type.Object({
  id: integer(),
  template_name: Type.String(),
  preview_image: Type.String(),
  is_blank: zeroOrOne(),
  is_html: zeroOrOne(),
  size: integer(),
  created_at: nullable(isoTimestampSchema()),
  updated_at: nullable(isoTimestampSchema()),
});

const OwnTemplate = Type.Object({
  id: integer(),
  template_name: Type.String(),
  is_html: zeroOrOne(),
  size: integer(),
  ...stamps,
  json_code: Type.String(),
  html_code: Type.String(),
  design_url: Type.String(),
});

const code = (description: string) => Type.Optional(text({ maxLength: MAX_TEMPLATE_CHARACTERS, description }));

const NewTemplate = Type.Object({
  template_name: line({ minLength: 1 }),
  mail_utr: identifier('The single send, or the mail of an automation, whose content is copied.'),
  template_id: identifier(
    'The template that is copied: a built-in one or your own. The blank one if nothing is given.',
  ),
  template_json: code("MJML's JSON form; template_html is then left empty."),
  template_html: code('HTML; template_json is then left empty.'),
});

const Changes = Type.Object({
  id: identifier('The template.'),
  template_name: Type.Optional(line({ minLength: 1 })),
  template_json: code("MJML's JSON form; template_html is then left empty."),
  template_html: code('HTML; template_json is then left empty.'),
});

const ListQuery = Type.Object({
  ...eitherOrderQuery.properties,
  search: Type.Optional(line({ description: 'Only templates with this in their name.' })),
  built_in: Type.Optional(flag('1: the built-in ones, too.')),
});

const BLANK = 1;

export const ownTemplateRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { db, clock, tokens, publicUrl } = deps;
  const listed = recordObject(ListedTemplate, ownTemplates, {
    preview_image: sql`preview_image`,
    is_blank: sql`is_blank`,
    is_html: sql`is_html`,
  });
  db.$client.function('template_token', (utr, user) =>
    designToken(tokens, 'template', String(utr), Number(user), clock.now()),
  );

  app.get(
    '/templates/list',
    {
      schema: {
        tags,
        summary: 'List your own templates, and the built-in ones, without their code (addition)',
        querystring: ListQuery,
        response: successWith({ templates: Type.Array(ListedTemplate) }),
      },
    },
    (request, reply) => {
      const { search, built_in } = request.query;
      const builtIn = sql`
        SELECT id, template_name, preview_image, is_blank, 0 AS is_html,
          octet_length(json_code) + octet_length(html_code) AS size, created_at, updated_at
        FROM ${designTemplates} UNION ALL`;
      const from = sql`(${built_in === 1 ? builtIn : sql``}
        SELECT id, template_name, ${OWN_PREVIEW} AS preview_image, 0 AS is_blank, json_code = '' AS is_html,
          size, created_at, updated_at
        FROM ${ownTemplates} WHERE user_id = ${request.accountId}) AS ${ownTemplates}`;
      const where = search ? sql`instr(fold(${ownTemplates.template_name}), ${fold(search)}) > 0` : sql`true`;
      sendList(reply, db, 'templates', { record: listed, from, where, id: ownTemplates.id }, request.query);
    },
  );

  app.get(
    '/templates/details',
    {
      schema: {
        tags,
        summary: 'Read a template of your own (addition)',
        querystring: Type.Object({ id: identifier('The template.') }),
        response: successWith({ template: OwnTemplate }),
      },
    },
    (request, reply) => {
      const record = recordObject(OwnTemplate, ownTemplates, {
        is_html: sql`${ownTemplates.json_code} = ''`,
        design_url: changesNothing(request)
          ? sql`''`
          : sql`${`${publicUrl()}/design/`} || template_token(${ownTemplates.utr}, ${request.actor.userId ?? 0})`,
      });
      const json = readRecord(
        db,
        record,
        sql`${ownTemplates}`,
        ownedRecord(ownTemplates, request.query.id, request.accountId),
      );
      if (json === undefined) throw notFound('Record not found');
      sendRecord(reply, 'template', json);
    },
  );

  app.post(
    '/templates/create',
    {
      schema: {
        tags,
        summary: 'Add a template of your own (addition)',
        description:
          'A copy of a mail or of another template, or the given code; blank if none is given. It is listed behind the built-in ones, and a mail made of it gets a copy of its code.',
        body: NewTemplate,
        response: successWith({ id: integer() }),
      },
      config: { check: check(NewTemplate, (body, errors) => addTemplateErrors(body, errors)) },
    },
    async (request) => {
      const { accountId, actor, body } = request;
      const { template_json = '', template_html = '', template_name } = body;
      const source =
        template_json || template_html
          ? { json: template_json, html: template_html }
          : copied(accountId, body.mail_utr, body.template_id);
      const codes =
        'json_code' in source ? source : await compiled(accountId, () => templateCodes(source.json, source.html));
      const id = db.transaction(
        () => {
          audit(db, { accountId, actor, action: 'template_added', subject: template_name }, clock.now());
          return addTemplate(deps, accountId, template_name, codes);
        },
        { behavior: 'immediate' },
      );
      return { status: 'success' as const, message: { id } };
    },
  );

  app.post(
    '/templates/update',
    {
      schema: {
        tags,
        summary: 'Change the name or the code of a template of your own (addition)',
        description: 'What is not given stays. Mails made of it stay as they are.',
        body: Changes,
        response: done,
      },
      config: { check: check(Changes, (body, errors) => addTemplateErrors(body, errors)) },
    },
    async (request) => {
      const { accountId, body } = request;
      requireTemplate(db, accountId, body.id);
      const { template_name: name, template_json = '', template_html = '' } = body;
      const codes =
        template_json || template_html
          ? await compiled(accountId, () => templateCodes(template_json, template_html))
          : undefined;
      change(request, 'template_changed', (template) => changeTemplate(deps, template, { name, codes }));
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );

  app.post(
    '/templates/delete',
    {
      schema: {
        tags,
        summary: 'Delete a template of your own (addition)',
        description: 'Mails made of it have a copy of its code and stay as they are.',
        body: Type.Object({ id: identifier('The template.') }),
        response: done,
      },
    },
    async (request) => {
      change(request, 'template_removed', ({ id }) => {
        db.delete(ownTemplates).where(eq(ownTemplates.id, id)).run();
      });
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );

  type ChangeRequest = Parameters<typeof changesNothing>[0] & { body: { id?: unknown } };

  /** Does something to the account's template and writes it down, in one transaction. Throws 404. */
  function change(
    { accountId, actor, body }: ChangeRequest,
    action: AuditAction,
    work: (template: ReturnType<typeof requireTemplate>) => void,
  ): void {
    const both = () => {
      const template = requireTemplate(db, accountId, body.id);
      audit(db, { accountId, actor, action, subject: template.template_name }, clock.now());
      work(template);
    };
    db.transaction(both, { behavior: 'immediate' });
  }

  /** What a new template is a copy of: the mail, else the template, else the blank one. Throws 404. */
  function copied(accountId: number, utr: unknown, id: unknown): TemplateCodes | { json: string; html: string } {
    if (utr) {
      const { template_id, template_json: json, template_html: html } = requireMail(db, accountId, utr);
      return json || html ? { json, html } : requireCodes(accountId, template_id);
    }
    return requireCodes(accountId, id || BLANK);
  }

  function requireCodes(accountId: number, id: unknown): TemplateCodes {
    const codes = findTemplateCodes(db, accountId, id);
    if (codes === undefined) throw notFound('Record not found');
    return codes;
  }
};

interface GivenCode {
  template_json?: string;
  template_html?: string;
}

function addTemplateErrors(
  body: GivenCode,
  errors: { has(field: string): boolean; add(field: string, problem: string): void },
): void {
  for (const [field, problem] of templateErrors(body)) if (!errors.has(field)) errors.add(field, problem);
}

/** Compiles code in the account's share of the compiling thread. Throws 409 with what is wrong with it. */
async function compiled(accountId: number, work: () => Promise<TemplateCodes>): Promise<TemplateCodes> {
  try {
    return await withinShare(accountId, work);
  } catch (error) {
    if (error instanceof ContentError) throw conflict(sentence('content_broken', { problem: error.message }));
    throw error;
  }
}
