/** The design templates: the built-in ones, and behind them those of the account. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { sql } from 'drizzle-orm';
import Type from 'typebox';
import { recordObject, totalBytes } from '../database/record-json.ts';
import { designTemplates, ownTemplates } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { sendList } from '../http/list-response.ts';
import { integer, isoTimestampSchema, listQuery, nullable, successWith, zeroOrOne } from '../http/requests/schemas.ts';
import { OWN_PREVIEW } from '../templates/mail-content.ts';

const tags = ['Templates'];

const DesignTemplate = Type.Object({
  id: integer(),
  template_name: Type.String(),
  preview_image: Type.String(),
  json_code: Type.String(),
  html_code: Type.String(),
  is_blank: zeroOrOne(),
  created_at: nullable(isoTimestampSchema()),
  updated_at: nullable(isoTimestampSchema()),
});

export const templateRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db }) => {
  const record = recordObject(DesignTemplate, designTemplates);
  const bytes = totalBytes(designTemplates.json_code, designTemplates.html_code);

  app.get(
    '/get-design/template',
    {
      schema: {
        tags,
        summary: 'List the templates',
        description: 'The built-in ones, then your own (addition), whose ids begin at 1001.',
        querystring: listQuery,
        response: successWith({ templates: Type.Array(DesignTemplate) }),
      },
    },
    (request, reply) => {
      // Named like the table of the built-in ones, so that its columns mean both. With the casts both halves have the same types, for
      // which SQLite merges them by id and sorts nothing: it would sort the code of all templates for each page.
      const from = sql`(
        SELECT id, template_name, preview_image, json_code, html_code, is_blank, created_at, updated_at FROM ${designTemplates} UNION ALL
        SELECT id, template_name, CAST(${OWN_PREVIEW} AS TEXT), json_code, html_code, CAST(0 AS INTEGER), created_at, updated_at
        FROM ${ownTemplates} WHERE user_id = ${request.accountId}) AS ${designTemplates}`;
      const source = { record, from, where: sql`true`, id: designTemplates.id, bytes };
      sendList(reply, db, 'templates', source, request.query);
    },
  );
};
