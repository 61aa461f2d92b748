/** Removing a mail of an automation, after saying what happens to who waits for it. */
import type { FastifyInstance } from 'fastify';
import { READ } from '../../../../http/pages/layout.ts';
import type { ComposedParams } from '../../../../single-sends/screens/compose/composed.tsx';
import { type ApiAnswer, ApiClient, refusalText } from '../../../api-client.ts';
import { setFlash } from '../../../flash.ts';
import { languageOf } from '../../../page.tsx';
import { field } from '../../../sign-in/fields.ts';
import { viewerOf } from '../../../signed-in.ts';
import { editAddress, mailAddress } from './addresses.ts';
import { changedMeanwhile } from './changed-meanwhile.ts';
import { AUTOMATION_MAIL, readMail } from './mail.tsx';
import { concerningMail } from './mail-content.tsx';
import { sendQuestion } from './question.tsx';
import type { Effects } from './series.ts';

const CONFLICT = 409;

interface Call {
  Params: ComposedParams;
}

export async function removeMailScreen(app: FastifyInstance): Promise<void> {
  const path = '/automations/schedule/remove';

  app.route<Call>({
    method: READ,
    url: `${AUTOMATION_MAIL.route}/remove`,
    handler: async (request, reply) => {
      const api = new ApiClient(app, request);
      const { series, mail } = await readMail(api, request.params.automation ?? '', request.params.utr);
      const { message }: ApiAnswer<{ effects: Effects }> = await api.send('POST', path, { utr: mail.utr, dry_run: 1 });
      const effects = concerningMail(message?.effects ?? { people: [], leaving: 0 }, mail.utr);
      const language = languageOf(request, viewerOf(request));
      return sendQuestion(request, reply, {
        series,
        effects,
        after: series.mails.filter((one) => one !== mail),
        action: mailAddress(series.utr, mail.utr, 'remove'),
        fields: { unchanged_since: mail.updated_at },
        submit: language.say('automations.remove.sure'),
        what: language.say('automations.remove.what', { subject: mail.subject }),
      });
    },
  });

  app.post<Call>(`${AUTOMATION_MAIL.route}/remove`, async (request, reply) => {
    const api = new ApiClient(app, request);
    const { series, mail } = await readMail(api, request.params.automation ?? '', request.params.utr);
    const fields = { utr: mail.utr, unchanged_since: field(request, 'unchanged_since') };
    const answer = await api.send('POST', path, fields);
    if (answer.message !== undefined) setFlash(reply, 'good', 'automations.removed', { subject: mail.subject });
    else {
      const language = languageOf(request, viewerOf(request));
      const problem = answer.status === CONFLICT ? changedMeanwhile(language, mail, []) : refusalText(answer);
      setFlash(reply, 'bad', 'automations.refused', { reason: problem });
    }
    return reply.redirect(editAddress(series.utr), 303);
  });
}
