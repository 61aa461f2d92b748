/** The API for single sends. */
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
  hideSingleSends,
  pauseSingleSend,
  resumeSingleSend,
  retryFailed,
} from './operations/actions.ts';
import { addAttachment, removeAttachment } from './operations/attachments.ts';
import { readBestHours } from './operations/best-hours.ts';
import { checkAnyMail } from './operations/check.ts';
import { countAudience, createDraft, readDraft, saveDraft } from './operations/drafts.ts';
import { listLanguages, removeLanguage, saveLanguage } from './operations/languages.ts';
import {
  exportRecipientsOf,
  findRecipientsOf,
  listRecipients,
  listSummaries,
  readReport,
} from './operations/reports.ts';
import { countUnopened, resendToUnopened } from './operations/resend.ts';
import { countJoined, sendToJoined } from './operations/send-to-joined.ts';
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
import { explainSingleSend } from './operations/why.ts';

/** The heading of these routes in the documentation of the API. */
export const SINGLE_SENDS_TAG = 'Campaigns (single sends)';

const details = ({ utr }: { utr: string }) => `/api/single-send/details?utr=${utr}`;

/** The API for single sends. */
export const singleSendRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  addOpenToken(deps);
  const sends = operationRoutes(app, deps, SINGLE_SENDS_TAG);
  sends.list('GET /single-send/list', listSingleSends);
  sends.read('POST /single/send/create', addSingleSend, details);
  sends.record('POST /single/send/preview', previewSingleSend);
  const one = successWith({
    singleSend: Type.Array(SingleSend, { description: 'The single send, as the only item.' }),
  });
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
  sends.read('POST /single/send/hide', hideSingleSends);
  sends.read('GET /single-send/report', readReport);
  sends.list('GET /single-send/recipients', listRecipients);
  sends.change('POST /single/send/test', testSingleSend, (message) => message);
  sends.read('GET /single-send/summaries', listSummaries);
  sends.read('GET /single-send/recipients/find', findRecipientsOf);
  sends.send('GET /single-send/recipients/export', exportRecipientsOf, csvFile, (csv, reply) =>
    sendLongCsv(reply, csv, 'recipients.csv'),
  );
  sends.read('GET /single-send/why', explainSingleSend);
  sends.record('GET /single-send/mail', showSingleSendMail);
  sends.code('GET /single-send/mail/html', showSingleSendHtml);
  sends.read('GET /single-send/check', checkSingleSendMail);
  sends.read('POST /check', checkAnyMail);
  sends.read('POST /single/send/draft', createDraft);
  sends.read('POST /single/send/save', saveDraft);
  sends.read('GET /single-send/draft', readDraft);
  sends.read('POST /single/send/attachments', addAttachment);
  sends.read('POST /single/send/attachments/remove', removeAttachment);
  sends.code('GET /single-send/html', readSingleSendCode);
  sends.read('GET /single-send/audience', countAudience);
  sends.read('GET /single-send/best-hours', readBestHours);
};

/** The API for sending a single send again. */
export const singleSendResendRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const resends = operationRoutes(app, deps, SINGLE_SENDS_TAG);
  resends.read('GET /single-send/unopened', countUnopened);
  resends.read('POST /single/send/resend', resendToUnopened);
  resends.read('GET /single-send/joined', countJoined);
  resends.change('POST /single/send/joined?utr', sendToJoined, 'Queued Successfully');
};

/** The API for A/B tests. */
export const singleSendVariantRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const tests = operationRoutes(app, deps, SINGLE_SENDS_TAG);
  tests.read('GET /single-send/variants', readVariants);
  tests.read('POST /single/send/variants', saveVariants);
  tests.change('POST /single/send/variants/decide', chooseWinner, 'Decided Successfully');
  tests.read('GET /single-send/languages', listLanguages);
  tests.read('POST /single/send/languages', saveLanguage);
  tests.read('POST /single/send/languages/remove', removeLanguage);
};
