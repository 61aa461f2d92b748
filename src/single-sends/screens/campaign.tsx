/** One mailing: its state and progress, what it achieved, why people were left out, and what can be done with it. */
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../clock.ts';
import { ApiClient } from '../../dashboard/api-client.ts';
import { viewerOf } from '../../dashboard/signed-in.ts';
import { READ } from '../../http/pages/layout.ts';
import { Actions, mailingActions } from './actions.tsx';
import { ArchiveCard, type Archived, archiveActions } from './archive.tsx';
import { sendPart } from './head.tsx';
import { linksScreen } from './links.tsx';
import { Overview } from './overview.tsx';
import { previewScreen } from './preview.tsx';
import { recipientsScreen } from './recipients.tsx';
import { type Report, readSummary } from './records.ts';
import { resendScreen } from './resend.tsx';
import { Variants, variantChoice } from './variants.tsx';

/** Registers the page of a mailing and what can be done with it. */
export async function mailingScreen(app: FastifyInstance, { clock }: { clock: Clock }): Promise<void> {
  app.route<{ Params: { utr: string } }>({
    method: READ,
    url: '/mailings/:utr',
    handler: async (request, reply) => {
      const api = new ApiClient(app, request);
      const { utr } = request.params;
      const summary = await readSummary(api, utr);
      const { report } = await api.get<{ report: Report }>('/single-send/report', { utr });
      const { archived } = await api.get<{ archived: Archived }>('/single-send/archive', { utr });
      const mayChange = viewerOf(request).role !== 'viewer';
      const action = mayChange && <Actions summary={summary} report={report} />;
      const content = (
        <>
          {report.ab_test !== null && <Variants utr={utr} test={report.ab_test} mayChoose={mayChange} />}
          <Overview summary={summary} report={report} />
          <ArchiveCard {...{ utr, archived, mayChange }} />
        </>
      );
      return sendPart(request, reply, { summary, now: clock.now(), current: 'overview' }, content, action);
    },
  });
  await variantChoice(app);
  await mailingActions(app);
  await archiveActions(app);
  await app.register(resendScreen);
  await linksScreen(app, { clock });
  await previewScreen(app, { clock });
  await recipientsScreen(app, { clock });
}
