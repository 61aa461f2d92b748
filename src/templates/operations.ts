/** Operations for templates: built-in templates, and the templates that accounts make from a mail, another template or code. */
import { type SQL, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { templateErrors } from '../campaigns/single-send-errors.ts';
import { deleteRestorably, restoreDeleted } from '../database/deleted-records.ts';
import { fold } from '../database/functions/fold.ts';
import { ownedRecord } from '../database/ownership.ts';
import { readRecord, recordObject, totalBytes } from '../database/record-json.ts';
import { designTemplates, ownTemplates } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { ContentError } from '../delivery/content/compiled-content.ts';
import { conflict, notFound } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import { withinShare } from '../http/account-share.ts';
import {
  choice,
  described,
  eitherOrderQuery,
  flag,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  listQuery,
  MAX_TEMPLATE_CHARACTERS,
  nullable,
  stamps,
  text,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../http/requests/validation.ts';
import { isReadOnly } from '../operations/callers.ts';
import { type Context, listOperation, operation, recordOperation } from '../operations/operation.ts';
import { type AuditAction, auditBy } from '../users/audit.ts';
import { designToken } from './designs/designs.ts';
import { BLANK_TEMPLATE, findTemplateCodes, OWN_PREVIEW, requireMail, type TemplateCodes } from './mail-content.ts';
import { addTemplate, changeTemplate, requireRoom, requireTemplate, templateCodes } from './own-templates.ts';

const Name = { id: integer(), template_name: Type.String() };
const Times = { created_at: nullable(isoTimestampSchema()), updated_at: nullable(isoTimestampSchema()) };
const Picture = {
  preview_image: Type.String({
    description: 'File name of the preview picture, which is served without keys at /images/templates/<preview_image>.',
  }),
};
const Code = { json_code: Type.String(), html_code: Type.String({ description: 'The template as HTML.' }) };
const Size = {
  is_html: zeroOrOne('1: the template was written as HTML; 0: it was made in the designer.'),
  size: integer({ description: 'The size of the code in bytes.' }),
};
const DesignTemplate = Type.Object({ ...Name, ...Picture, ...Code, is_blank: zeroOrOne(), ...Times });
const ListedTemplate = Type.Object({ ...Name, ...Picture, is_blank: zeroOrOne(), ...Size, ...Times });

const OwnTemplate = Type.Object({ ...Name, ...Size, ...stamps, ...Code, design_url: Type.String() });

/** The warnings about the content of a mail in an answer. */
export const ContentWarnings = Type.Array(
  Type.Object({
    code: described(choice('unknown_placeholders', 'foreign_tags'), 'The kind of the warning.'),
    count: integer({ description: 'The number of placeholders or tags.' }),
    names: Type.Array(Type.String(), { description: 'The first five placeholders or tags.' }),
  }),
  {
    description:
      'Placeholders for which no contact has a value, and tags of other services. They do not stop the send, but are probably a mistake.',
  },
);

const code = (description: string) => Type.Optional(text({ maxLength: MAX_TEMPLATE_CHARACTERS, description }));
const CodeInput = {
  template_json: code('The code as MJML in its JSON form. template_html must then be empty.'),
  template_html: code('The code as HTML. template_json must then be empty.'),
};
const ById = { id: identifier('The template.') };

/** A built-in or own template without its code. */
export type ListedTemplate = Static<typeof ListedTemplate>;
/** An own template. */
export type OwnTemplate = Static<typeof OwnTemplate>;

const designRecord = recordObject(DesignTemplate, designTemplates);
const listedRecord = recordObject(ListedTemplate, ownTemplates, {
  preview_image: sql`preview_image`,
  is_blank: sql`is_blank`,
  is_html: sql`is_html`,
});

export const listDesignTemplates = listOperation({
  name: 'List the templates',
  description: 'The built-in templates come first, then your own templates (addition), whose ids begin at 1001.',
  role: 'viewer',
  input: listQuery,
  as: 'templates',
  record: DesignTemplate,
  // The union has the same name as the table of built-in templates, so that the columns of that table refer to both. The casts give
  // both halves the same types; otherwise SQLite could not merge them by id and would sort the code of all templates for each page.
  select: ({ accountId }, part) => ({
    record: designRecord,
    from: sql`(
      SELECT id, template_name, preview_image, json_code, html_code, is_blank, created_at, updated_at FROM ${designTemplates} UNION ALL
      SELECT id, template_name, CAST(${OWN_PREVIEW} AS TEXT), json_code, html_code, CAST(0 AS INTEGER), created_at, updated_at
      FROM ${ownTemplates} WHERE user_id = ${accountId}) AS ${designTemplates}`,
    where: sql`true`,
    id: designTemplates.id,
    bytes: totalBytes(designTemplates.json_code, designTemplates.html_code),
    part,
  }),
});

export const listTemplates = listOperation({
  name: 'List your own templates, and the built-in templates, without their code (addition)',
  role: 'viewer',
  input: Type.Object({
    ...eitherOrderQuery.properties,
    search: Type.Optional(line({ description: 'Only templates whose names contain this text.' })),
    built_in: Type.Optional(flag('1: the built-in templates are listed, too.')),
  }),
  as: 'templates',
  record: ListedTemplate,
  select({ accountId }, { search, built_in, ...part }) {
    const builtIn = sql`
      SELECT id, template_name, preview_image, is_blank, 0 AS is_html,
        octet_length(json_code) + octet_length(html_code) AS size, created_at, updated_at
      FROM ${designTemplates} UNION ALL`;
    const from = sql`(${built_in === 1 ? builtIn : sql``}
      SELECT id, template_name, ${OWN_PREVIEW} AS preview_image, 0 AS is_blank, json_code = '' AS is_html,
        size, created_at, updated_at
      FROM ${ownTemplates} WHERE user_id = ${accountId}) AS ${ownTemplates}`;
    const where: SQL = search ? sql`instr(fold(${ownTemplates.template_name}), ${fold(search)}) > 0` : sql`true`;
    return { record: listedRecord, from, where, id: ownTemplates.id, part };
  },
});

export const readTemplate = recordOperation({
  name: 'Read a template of your own (addition)',
  role: 'viewer',
  input: Type.Object(ById),
  as: 'template',
  record: OwnTemplate,
  json(context, input) {
    const { db, accountId, actor, publicUrl, tokens, clock } = context;
    const where = ownedRecord(ownTemplates, input.id, accountId);
    // Reads only the utr, because the code of a template can have megabytes.
    const template = db.select({ utr: ownTemplates.utr }).from(ownTemplates).where(where).get();
    if (template === undefined) throw notFound('Record not found');
    const token = designToken(tokens, 'template', template.utr, actor.userId ?? 0, clock.now());
    const record = recordObject(OwnTemplate, ownTemplates, {
      is_html: sql`${ownTemplates.json_code} = ''`,
      design_url: sql`${isReadOnly(context) ? '' : `${publicUrl()}/design/${token}`}`,
    });
    return readRecord(db, record, sql`${ownTemplates}`, where);
  },
});

export const createTemplate = operation({
  name: 'Add a template of your own (addition)',
  description:
    'The template gets the code of the request, or a copy of an e-mail or of another template; otherwise it is blank. An e-mail made from the template gets a copy of its code.',
  role: 'editor',
  input: Type.Object({
    template_name: line({ minLength: 1 }),
    mail_utr: identifier('The single send, or the e-mail of an automation, whose content is copied.'),
    template_id: identifier('The built-in or own template that is copied; the blank template by default.'),
    ...CodeInput,
  }),
  output: Type.Object({ id: integer() }),
  check: addTemplateErrors,
  async run(context, { template_name, mail_utr, template_id, ...fields }) {
    const { db, accountId } = context;
    const codes = (await compileInput(accountId, fields)) ?? (await copyCodes(context, mail_utr, template_id));
    const add = () => {
      auditBy(context, 'template_added', template_name);
      return { id: addTemplate(context, accountId, template_name, codes) };
    };
    return inTransaction(db, add);
  },
});

export const updateTemplate = operation({
  name: 'Change the name or the code of a template of your own (addition)',
  description: 'Absent parameters are not changed. E-mails made from the template do not change.',
  role: 'editor',
  input: Type.Object({ ...ById, template_name: Type.Optional(line({ minLength: 1 })), ...CodeInput }),
  check: addTemplateErrors,
  async run(context, { id, template_name: name, ...fields }) {
    const { db, accountId } = context;
    requireTemplate(db, accountId, id);
    const codes = await compileInput(accountId, fields);
    change(context, id, 'template_changed', (template) => changeTemplate(context, template, { name, codes }));
  },
});

export const deleteTemplate = operation({
  name: 'Delete a template of your own (addition)',
  description:
    'E-mails made from the template have a copy of its code and do not change. The template can be restored until another template is deleted.',
  role: 'editor',
  input: Type.Object(ById),
  run(context, { id }) {
    change(context, id, 'template_removed', (template) => deleteRestorably(context.db, ownTemplates, template));
  },
});

export const undeleteTemplate = operation({
  name: 'Undo the deletion of a template of your own (addition)',
  description: 'Only the template that was deleted last can be restored, until `sendlark purge` removes it.',
  role: 'editor',
  input: Type.Object(ById),
  run(context, { id }) {
    const { db, accountId } = context;
    const restore = () => {
      restoreDeleted(db, ownTemplates, accountId, id);
      // The restored template is counted already, so no further room is needed.
      requireRoom(db, accountId, 0, 0);
      auditBy(context, 'template_restored', requireTemplate(db, accountId, id).template_name);
    };
    inTransaction(db, restore);
  },
});

type CodeInput = { [Field in keyof typeof CodeInput]?: string };

function addTemplateErrors(_context: Context, input: CodeInput, errors: FieldErrorCollector): void {
  errors.addAll(templateErrors(input));
}

/**
 * Runs `work`, which changes a template, and writes an entry to the audit log, in one transaction. Throws 404 if the account has no such
 * template.
 */
function change(
  context: Context,
  id: unknown,
  action: AuditAction,
  work: (template: ReturnType<typeof requireTemplate>) => void,
): void {
  const { db, accountId } = context;
  const changeAndAudit = () => {
    const template = requireTemplate(db, accountId, id);
    auditBy(context, action, template.template_name);
    work(template);
  };
  inTransaction(db, changeAndAudit);
}

/**
 * Returns a copy of the code of the mail with this utr or, if the mail has none of its own, of its template; without a utr, of the template
 * with this id; without an id, of the blank template. Throws 404 if there is no such mail or template.
 */
async function copyCodes({ db, accountId }: Context, utr: unknown, id: unknown): Promise<TemplateCodes> {
  const mail = utr ? requireMail(db, accountId, utr) : undefined;
  const codes = mail && (await compileInput(accountId, mail));
  return codes ?? requireCodes(findTemplateCodes(db, accountId, mail ? mail.template_id : id || BLANK_TEMPLATE));
}

function requireCodes(codes: TemplateCodes | undefined): TemplateCodes {
  if (codes === undefined) throw notFound('Record not found');
  return codes;
}

/**
 * Compiles the code of a request, within the account's share of the compiling thread. Returns undefined if the request has no code. Throws
 * 409 with the fault of the code.
 */
async function compileInput(
  accountId: number,
  { template_json: json = '', template_html: html = '' }: CodeInput,
): Promise<TemplateCodes | undefined> {
  if (json === '' && html === '') return undefined;
  try {
    return await withinShare(accountId, () => templateCodes(accountId, json, html));
  } catch (error) {
    if (error instanceof ContentError) throw conflict(sentence('content_broken', { problem: error.said }));
    throw error;
  }
}
