/** The API of single sends. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { sendLongCsv, sendRecord } from '../http/list-response.ts';
import { operationRoutes } from '../http/operation-routes.ts';
import { csvFile, successWith } from '../http/requests/schemas.ts';
import type { Deps } from '../operations/deps.ts';
import {
  cancelSingleSend,
  deleteSingleSend,
  deleteSingleSends,
  duplicateSingleSend,
  pauseSingleSend,
  resumeSingleSend,
  retryFailed,
} from './operations/actions.ts';
import { countAudience, createDraft, readDraft, saveDraft } from './operations/drafts.ts';
import {
  exportRecipientsOf,
  findRecipientsOf,
  listRecipients,
  listSummaries,
  readReport,
} from './operations/reports.ts';
import { countUnopened, resendToUnopened } from './operations/resend.ts';
import {
  checkSingleSendMail,
  readSingleSendCode,
  showSingleSendHtml,
  showSingleSendMail,
  testSingleSend,
} from './operations/shown-mails.ts';
import {
  addOpenToken,
  addSingleSend,
  listSingleSends,
  previewSingleSend,
  readSingleSend,
  SingleSend,
  updateSingleSend,
} from './operations/single-sends.ts';
import { chooseWinner, readVariants, saveVariants } from './operations/variants.ts';

const TAG = 'Single sends';

const details = ({ utr }: { utr: string }) => `/api/single-send/details?utr=${utr}`;

export const singleSendRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  addOpenToken(deps);
  const sends = operationRoutes(app, deps, TAG);
  sends.list('GET /single-send/list', listSingleSends);
  sends.read('POST /single/send/create', addSingleSend, details);
  sends.record('POST /single/send/preview', previewSingleSend);
  const one = successWith({ singleSend: Type.Array(SingleSend) });
  sends.send('GET /single-send/details', readSingleSend, one, (json, reply) =>
    sendRecord(reply, 'singleSend', `[${json}]`),
  );
  sends.read('POST /single/send/update', updateSingleSend, details);
  sends.change('GET|POST /single/send/duplicate', duplicateSingleSend, 'Duplicated Successfully', details);
  sends.change('DELETE /single/send/delete', deleteSingleSend, 'Deleted Successfully');
  sends.change('POST /single/send/bulk-delete', deleteSingleSends, 'Deleted Successfully');
  sends.change('POST /single/send/cancel?utr', cancelSingleSend, 'Cancelled Successfully');
  sends.change('POST /single/send/pause?utr', pauseSingleSend, 'Paused Successfully');
  sends.change('POST /single/send/resume?utr', resumeSingleSend, 'Resumed Successfully');
  sends.read('POST /single/send/retry-failed?utr', retryFailed);
  sends.read('GET /single-send/report', readReport);
  sends.list('GET /single-send/recipients', listRecipients);
  sends.change('POST /single/send/test', testSingleSend, (message) => message);
  sends.read('GET /single-send/summaries', listSummaries);
  sends.read('GET /single-send/recipients/find', findRecipientsOf);
  sends.send('GET /single-send/recipients/export', exportRecipientsOf, csvFile, (csv, reply) =>
    sendLongCsv(reply, csv, 'recipients.csv'),
  );
  sends.record('GET /single-send/mail', showSingleSendMail);
  sends.code('GET /single-send/mail/html', showSingleSendHtml);
  sends.read('GET /single-send/check', checkSingleSendMail);
  sends.read('POST /single/send/draft', createDraft);
  sends.read('POST /single/send/save', saveDraft);
  sends.read('GET /single-send/draft', readDraft);
  sends.code('GET /single-send/html', readSingleSendCode);
  sends.read('GET /single-send/audience', countAudience);
};

export const singleSendResendRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const resends = operationRoutes(app, deps, TAG);
  resends.read('GET /single-send/unopened', countUnopened);
  resends.read('POST /single/send/resend', resendToUnopened);
};

export const singleSendVariantRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const tests = operationRoutes(app, deps, TAG);
  tests.read('GET /single-send/variants', readVariants);
  tests.read('POST /single/send/variants', saveVariants);
  tests.change('POST /single/send/variants/decide', chooseWinner, 'Decided Successfully');
};
