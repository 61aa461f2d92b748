/** The API of segments and their recipients. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import { addRecipientByHand, listRecipients, removeRecipientByHand } from './operations/recipients.ts';
import { countMatches, listNames } from './operations/rules.ts';
import {
  addSegment,
  changeSegment,
  deleteSegment,
  listSegments,
  readSegment,
  readSegmentProblem,
} from './operations/segments.ts';

export const segmentRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const segments = operationRoutes(app, deps, 'Segments');
  const details = ({ id }: { id: number }) => `/api/segment/details?segment_id=${id}`;
  segments.list('GET /segment/list', listSegments);
  segments.change('POST /segment/store', addSegment, 'Added Successfully', details);
  segments.change('POST /segment/update', changeSegment, 'Updated Successfully', details);
  segments.record('GET /segment/details', readSegment);
  segments.read('GET /segment/problem', readSegmentProblem);
  segments.changeInErrors('DELETE /segment/delete', deleteSegment, 'Deleted Successfully');
  segments.list('GET /segment/email/list', listRecipients);
  segments.change('POST /segment/email/store', addRecipientByHand, 'Added Successfully');
  segments.change('DELETE /segment/email/delete', removeRecipientByHand, 'Deleted Successfully');
  segments.read('GET /segment/count', countMatches);
  segments.read('GET /segment/names', listNames);
};
