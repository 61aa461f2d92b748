/** The picture library (addition): pictures that mails load from this service, and where they are used. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, sql } from 'drizzle-orm';
import Type from 'typebox';
import { makeUploadFolder } from '../audience/import/uploads.ts';
import { fold } from '../database/fold.ts';
import { ownedBy, ownedRecord } from '../database/ownership.ts';
import { readRecord, recordObject } from '../database/record-json.ts';
import { PICTURE_KINDS, PICTURE_USES, pictures, pictureUses } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { messages } from '../field-errors.ts';
import { inTurn } from '../http/account-share.ts';
import { sendList, sendRecord } from '../http/list-response.ts';
import {
  choice,
  done,
  eitherOrderQuery,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  listQuery,
  MAX_LINE_CHARACTERS,
  nullable,
  stamps,
  successWith,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { deletePicture, MAX_PICTURE_BYTES, storePicture, updatePicture } from '../pictures/pictures.ts';
import { type FileUpload, readFileUpload } from './file-upload.ts';

const tags = ['Pictures'];

const Picture = Type.Object({
  id: integer(),
  name: Type.String(),
  alt: Type.String(),
  url: Type.String(),
  kind: choice(...PICTURE_KINDS),
  width: integer(),
  height: integer(),
  size: integer(),
  single_sends: integer(),
  automation_mails: integer(),
  sent_mails: integer(),
  templates: integer(),
  blocks: integer(),
  brands: integer(),
  ...stamps,
});

const PictureUse = Type.Object({
  id: integer(),
  kind: choice(...PICTURE_USES),
  campaign: nullable(choice('single_send', 'automation')),
  utr: nullable(Type.String()),
  name: nullable(Type.String()),
  subject: Type.String(),
  sent_at: nullable(isoTimestampSchema()),
});

const UploadBody = Type.Object({
  file: Type.String({ format: 'binary', description: 'A PNG, JPEG, GIF or WebP of 5 MiB at most.' }),
  name: Type.Optional(line({ description: 'What it is called; the name of the file if not given.' })),
  alt: Type.Optional(line({ description: 'What is read in place of the picture.' })),
});

const UpdateBody = Type.Object({
  id: identifier('The picture.'),
  name: line({ description: 'What it is called.' }),
  alt: Type.Optional(line({ description: 'What is read in place of the picture.' })),
});

const ListQuery = Type.Object({
  ...eitherOrderQuery.properties,
  search: Type.Optional(line({ description: 'Only pictures with this in their name or alternative text.' })),
});

export const pictureRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { db, config, publicUrl } = deps;
  const from = sql`${pictures}`;
  const record = () =>
    recordObject(Picture, pictures, {
      url: sql`${publicUrl()} || '/pictures/' || ${pictures.public_id} || '/' || ${pictures.file_name}`,
    });

  app.post(
    '/pictures/upload',
    {
      schema: {
        tags,
        summary: 'Add a picture for mails (addition)',
        description:
          'The bytes decide what the file is, not its name. Whoever has the address can load the picture, without keys. A picture that the account has already is not stored again: is_new is 0.',
        body: UploadBody,
        consumes: ['multipart/form-data'],
        response: successWith({ picture: Picture, is_new: zeroOrOne() }),
      },
      // The handler reads the body itself; the schema is only for the OpenAPI document.
      validatorCompiler: () => () => true,
      config: { upload: true },
    },
    async (request, reply) => {
      const { accountId } = request;
      const folder = await makeUploadFolder(config.DATABASE_PATH);
      try {
        const path = join(folder, 'picture');
        const upload = await readFileUpload(request, path, MAX_PICTURE_BYTES);
        const { name, alt } = readTexts(upload);
        upload.errors.throwIfAny();
        const { fileName } = upload;
        const { id, isNew } = await inTurn(accountId, async () =>
          storePicture(deps, accountId, { bytes: await readFile(path), fileName, name, alt }),
        );
        const json = readRecord(db, record(), from, ownedRecord(pictures, id, accountId));
        if (json === undefined) throw notFound();
        return sendRecord(reply, 'picture', json, { is_new: isNew ? 1 : 0 });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );

  app.get(
    '/pictures',
    {
      schema: {
        tags,
        summary: 'List the pictures, with how often each is used (addition)',
        querystring: ListQuery,
        response: successWith({ pictures: Type.Array(Picture) }),
      },
    },
    (request, reply) => {
      const { search } = request.query;
      const texts = sql`concat_ws(char(10), ${pictures.name}, ${pictures.alt})`;
      const matches = search ? sql`instr(fold(${texts}), ${fold(search)}) > 0` : undefined;
      const where = and(ownedBy(pictures, request.accountId), matches);
      sendList(reply, db, 'pictures', { record: record(), from, where, id: pictures.id }, request.query);
    },
  );

  app.get(
    '/pictures/details',
    {
      schema: {
        tags,
        summary: 'Read a picture (addition)',
        querystring: Type.Object({ id: identifier('The picture.') }),
        response: successWith({ picture: Picture }),
      },
    },
    (request, reply) => {
      const json = readRecord(db, record(), from, ownedRecord(pictures, request.query.id, request.accountId));
      if (json === undefined) throw notFound();
      sendRecord(reply, 'picture', json);
    },
  );

  app.get(
    '/pictures/uses',
    {
      schema: {
        tags,
        summary:
          'List the single sends, automation mails, sent mailings, templates and saved blocks that contain a picture (addition)',
        querystring: Type.Object({ ...listQuery.properties, id: identifier('The picture.') }),
        response: successWith({ uses: Type.Array(PictureUse) }),
      },
    },
    (request, reply) => {
      const { id } = request.query;
      const picture = db
        .select({ id: pictures.id })
        .from(pictures)
        .where(ownedRecord(pictures, id, request.accountId))
        .get();
      if (picture === undefined) throw notFound();
      const where = sql`${pictureUses.picture_id} = ${picture.id}`;
      sendList(reply, db, 'uses', { record: useRecord, from: useSources, where, id: pictureUses.id }, request.query);
    },
  );

  app.post(
    '/pictures/update',
    {
      schema: {
        tags,
        summary: 'Change what a picture is called, and the text in its place (addition)',
        description: 'The address stays as it is, and so do the mails that contain the picture.',
        body: UpdateBody,
        response: done,
      },
    },
    async (request) => {
      const { id, name, alt } = request.body;
      updatePicture(deps, request.accountId, id, { name, alt });
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );

  app.post(
    '/pictures/delete',
    {
      schema: {
        tags,
        summary: 'Delete a picture that no mail contains (addition)',
        description:
          'Refused while a single send, a mail of an automation, a template or a saved block contains it, while it is the logo of the brand, and once it was sent: people who have the mail still load it, even when the campaign is deleted.',
        body: Type.Object({ id: identifier('The picture.') }),
        response: done,
      },
    },
    async (request) => {
      deletePicture(db, request.accountId, request.body.id);
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );
};

/** A use with the campaign it belongs to: the single send, or the automation. A mailing whose campaign is deleted has neither. */
const useSources = sql`${pictureUses}
  LEFT JOIN mailings m ON ${pictureUses.kind} = 'sent_mail' AND m.id = ${pictureUses.owner_id}
  LEFT JOIN single_sends s ON s.id = CASE
    WHEN ${pictureUses.kind} = 'single_send' THEN ${pictureUses.owner_id} WHEN m.owner_kind = 'single' THEN m.owner_id END
  LEFT JOIN automation_schedules c ON ${pictureUses.kind} = 'automation_mail' AND c.id = ${pictureUses.owner_id}
  LEFT JOIN own_templates o ON ${pictureUses.kind} = 'template' AND o.id = ${pictureUses.owner_id}
  LEFT JOIN saved_blocks b ON ${pictureUses.kind} = 'block' AND b.id = ${pictureUses.owner_id}
  LEFT JOIN automations a ON a.id = ifnull(c.automation_id, m.automation_id) AND a.deleted_at IS NULL`;

const useRecord = recordObject(PictureUse, pictureUses, {
  campaign: sql`CASE WHEN s.id IS NOT NULL THEN 'single_send' WHEN a.id IS NOT NULL THEN 'automation' END`,
  utr: sql`ifnull(s.utr, a.utr)`,
  name: sql`coalesce(s.single_send_name, a.automation_name, o.template_name, b.block_name)`,
  subject: sql`coalesce(nullif(${pictureUses.subject}, ''), s.subject, c.subject, '')`,
  sent_at: sql`m.created_at`,
});

/** The texts beside an uploaded file; what is wrong with them is added to its errors. */
function readTexts({ fields, errors }: FileUpload): { name?: string; alt?: string } {
  const texts: { name?: string; alt?: string } = {};
  for (const field of ['name', 'alt'] as const) {
    const given = fields[field];
    if (given === undefined) continue;
    if (typeof given !== 'string') {
      errors.add(field, messages.string(field));
      continue;
    }
    const text = given.trim();
    if (text.length > MAX_LINE_CHARACTERS) errors.add(field, messages.maximum(field, MAX_LINE_CHARACTERS));
    if (/[\p{Cc}\u2028\u2029]/u.test(text)) errors.add(field, messages.oneLine(field));
    texts[field] = text;
  }
  return texts;
}
