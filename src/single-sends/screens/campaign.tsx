/** The page of one campaign: its state and progress, results, why contacts were excluded, and the actions on it. */
import type { FastifyInstance } from 'fastify';
import { readArchivedMail } from '../../archive/operations.ts';
import { ask } from '../../dashboard/operations.ts';
import { viewerOf } from '../../dashboard/signed-in.ts';
import { READ } from '../../http/pages/layout.ts';
import type { Clock } from '../../time/clock.ts';
import { readReport, readSummary } from '../operations/reports.ts';
import { Actions, ArchiveCard, archiveActions, campaignActions } from './actions.tsx';
import { sendPart } from './head.tsx';
import { linksScreen } from './links.tsx';
import { Overview } from './overview.tsx';
import { previewScreen } from './preview.tsx';
import { recipientsScreen } from './recipients.tsx';
import { resendScreen } from './resend.tsx';
import { Variants, variantChoice } from './variants.tsx';

/** Registers the page of a campaign, its subpages and its actions. */
export async function campaignScreen(app: FastifyInstance, { clock }: { clock: Clock }): Promise<void> {
  app.route<{ Params: { utr: string } }>({
    method: READ,
    url: '/mailings/:utr',
    handler: async (request, reply) => {
      const { utr } = request.params;
      const summary = await ask(request, readSummary, { utr });
      const { report } = await ask(request, readReport, { utr });
      const { archived } = await ask(request, readArchivedMail, { utr });
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
  await campaignActions(app);
  await archiveActions(app);
  await app.register(resendScreen);
  await linksScreen(app, { clock });
  await previewScreen(app, { clock });
  await recipientsScreen(app, { clock });
}
