/** What would be affected if a segment, a contact type or a custom field were deleted (additions). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { sql } from 'drizzle-orm';
import Type from 'typebox';
import { segmentsWithField } from '../audience/segments/broken-rules.ts';
import type { Db } from '../database/open.ts';
import { ownedRecord, recordId } from '../database/ownership.ts';
import {
  AUTOMATION_STATUS,
  contactTypes,
  customFields,
  SINGLE_SEND_STATUS,
  segments,
  type Target,
} from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { identifier, integer, successWith } from '../http/requests/schemas.ts';

/** Campaigns that have not ended. */
const Campaigns = {
  single_sends: integer(),
  queued_single_sends: integer(),
  automations: integer(),
  live_automations: integer(),
};

export const useRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db }) => {
  app.get(
    '/segment/uses',
    {
      schema: {
        tags: ['Segments'],
        summary: 'Count what a segment is used for (addition)',
        querystring: Type.Object({ segment_id: identifier('The segment.') }),
        response: successWith({ uses: Type.Object({ people: integer(), ...Campaigns }) }),
      },
    },
    async (request) => {
      const where = ownedRecord(segments, request.query.segment_id, request.accountId);
      const segment = db.select().from(segments).where(where).get();
      if (segment === undefined) throw notFound();
      const people = segment.segment_emails_count;
      const campaigns = countCampaigns(db, request.accountId, [{ table: 'segments', id: String(segment.id) }]);
      return { status: 'success' as const, message: { uses: { people, ...campaigns } } };
    },
  );

  app.get(
    '/contacts-type/uses',
    {
      schema: {
        tags: ['Contact types'],
        summary: 'Count what a contact type is used for (addition)',
        querystring: Type.Object({ contact_type_id: identifier('The contact type.') }),
        response: successWith({ uses: Type.Object({ people: integer(), segments: integer(), ...Campaigns }) }),
      },
    },
    async (request) => {
      const where = ownedRecord(contactTypes, request.query.contact_type_id, request.accountId);
      const type = db.select().from(contactTypes).where(where).get();
      if (type === undefined) throw notFound();
      const ofType = db.all<{ id: number }>(
        sql`SELECT id FROM segments WHERE contact_type_id = ${type.id} AND deleted_at IS NULL`,
      );
      const targets: Target[] = [{ table: 'contacts', id: String(type.id) }, ...asTargets(ofType.map(({ id }) => id))];
      const campaigns = countCampaigns(db, request.accountId, targets);
      return {
        status: 'success' as const,
        message: { uses: { people: type.contacts_count, segments: ofType.length, ...campaigns } },
      };
    },
  );

  app.get(
    '/custom-fields/uses',
    {
      schema: {
        tags: ['Fields'],
        summary: 'Count what a field of your own is used for (addition)',
        description: 'The segments whose rules name it, and the campaigns for those.',
        querystring: Type.Object({ id: identifier('The custom field.') }),
        response: successWith({ uses: Type.Object({ segments: integer(), ...Campaigns }) }),
      },
    },
    async (request) => {
      const id = recordId(request.query.id);
      const where = ownedRecord(customFields, id, request.accountId);
      if (db.select().from(customFields).where(where).get() === undefined) throw notFound();
      const named = segmentsWithField(db, request.accountId, id);
      const campaigns = countCampaigns(db, request.accountId, asTargets(named));
      return { status: 'success' as const, message: { uses: { segments: named.length, ...campaigns } } };
    },
  );
};

function asTargets(segmentIds: readonly number[]): Target[] {
  return segmentIds.map((id) => ({ table: 'segments', id: String(id) }));
}

/** How many drafts and queued single sends have one of these targets as a recipient or exclusion, and how many automations are for one. */
function countCampaigns(db: Db, accountId: number, targets: readonly Target[]) {
  const keys = JSON.stringify(targets.map(({ table, id }) => `${table}_${id}`));
  const isOne = (table: string, id: string) =>
    sql`(${sql.raw(table)}) || '_' || (${sql.raw(id)}) IN (SELECT value FROM json_each(${keys}))`;
  const names = (column: string) =>
    sql`EXISTS (SELECT 1 FROM json_each(${sql.raw(column)}) t WHERE ${isOne("t.value ->> 'table'", "t.value ->> 'id'")})`;
  return db.get<{
    single_sends: number;
    queued_single_sends: number;
    automations: number;
    live_automations: number;
  }>(sql`
    SELECT * FROM
      (SELECT count(*) AS single_sends, count(*) FILTER (WHERE status = ${SINGLE_SEND_STATUS.queued}) AS queued_single_sends
       FROM single_sends WHERE user_id = ${accountId} AND status IN (${SINGLE_SEND_STATUS.draft}, ${SINGLE_SEND_STATUS.queued})
         AND (${names('recipient_id')} OR ${names('exclude_specific_recipient_id')})),
      (SELECT count(*) AS automations, count(*) FILTER (WHERE status = ${AUTOMATION_STATUS.live}) AS live_automations
       FROM automations WHERE user_id = ${accountId} AND deleted_at IS NULL AND ${isOne('automation_for_table', 'automation_for')})`);
}
