/** The API for senders, and for the DNS records, DKIM keys and warm-ups of their domains. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../http/operation-routes.ts';
import type { Deps } from '../operations/deps.ts';
import { readChecks, renewChecks } from './operations/checks.ts';
import { deleteDkimKey, makeDkimKey, rotateDkimKey } from './operations/dkim.ts';
import {
  addSender,
  changeSender,
  deleteSender,
  listSenders,
  readSender,
  readSenderUsage,
  readVerification,
  resendVerification,
} from './operations/senders.ts';
import { changeWarmUp, readWarmUps, stopWarmUp } from './operations/warm-ups.ts';

export const senderRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const senders = operationRoutes(app, deps, 'Senders');
  senders.list('GET|POST /senders', listSenders);
  senders.change(
    'POST /sender/save',
    addSender,
    'Added Successfully',
    ({ id }) => `/api/sender/details?sender_id=${id}`,
  );
  senders.record('GET /sender/details', readSender);
  senders.change('POST /sender/update', changeSender, 'Updated Successfully');
  senders.deleteInErrors('DELETE /sender/delete', deleteSender);
  senders.read('GET /sender/report', readVerification);
  senders.change('GET /sender/resend-mail', resendVerification, 'Verification Mail Send');
  senders.read('GET /senders/checks', readChecks);
  senders.read('POST /senders/checks/renew', renewChecks);
  senders.read('GET /sender/usage', readSenderUsage);
  senders.read('GET /senders/warm-ups', readWarmUps);
  senders.change('POST /senders/warm-ups/save', changeWarmUp, 'Updated Successfully');
  senders.change('POST /senders/warm-ups/stop', stopWarmUp, 'Updated Successfully');
  senders.change('POST /dkim/create', makeDkimKey, 'Added Successfully');

  const installation = operationRoutes(app, deps, 'Installation');
  installation.change('POST /dkim/rotate', rotateDkimKey, 'Added Successfully');
  installation.change('DELETE /dkim/delete', deleteDkimKey, 'Deleted Successfully');
};
