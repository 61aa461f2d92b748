/** The built-in design templates. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { sql } from 'drizzle-orm';
import Type from 'typebox';
import { recordObject } from '../database/record-json.ts';
import { designTemplates } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { sendList } from '../http/list-response.ts';
import { integer, isoTimestampSchema, listQuery, nullable, successWith, zeroOrOne } from '../http/requests/schemas.ts';

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

  app.get(
    '/get-design/template',
    {
      schema: {
        tags,
        summary: 'List the templates',
        querystring: listQuery,
        response: successWith({ templates: Type.Array(DesignTemplate) }),
      },
    },
    (request, reply) => {
      const source = { record, from: sql`${designTemplates}`, where: sql`true`, id: designTemplates.id };
      sendList(reply, db, 'templates', source, request.query);
    },
  );
};
