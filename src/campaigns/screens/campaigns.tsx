/** The page of a campaign. Registers all pages of campaigns except those that compose them. */
import type { FastifyInstance } from 'fastify';
import { pageRoute } from '../../http/pages/layout.ts';
import type { Deps } from '../../operations/deps.ts';
import { ask } from '../../ui/operations.ts';
import { viewerOf } from '../../ui/signed-in.ts';
import { readArchivedMail } from '../archive/operations.ts';
import { readReport, readSummary, readUsualRates } from '../operations/reports.ts';
import { calendarScreen } from './calendar.tsx';
import { Actions, ArchiveCard, archiveActions, campaignActions, sendPart } from './campaign.tsx';
import { linksScreen } from './links.tsx';
import { campaignList } from './list.tsx';
import { previewScreen, sketchOfMail } from './mail.tsx';
import { Overview } from './overview.tsx';
import { recipientsScreen } from './recipients.tsx';
import { resendScreen } from './resend.tsx';
import { Variants, variantChoice } from './variant-results.tsx';
import { whyScreen } from './why.tsx';

/** Registers the list, the page of a campaign, its subpages and its actions. */
export async function campaignScreens(app: FastifyInstance, { clock, config }: Deps): Promise<void> {
  await campaignList(app, { clock });
  await calendarScreen(app, { clock, config });
  pageRoute<{ Params: { utr: string } }>(app, '/campaigns/:utr', async (request, reply) => {
    const { utr } = request.params;
    const summary = await ask(request, readSummary, { utr });
    const { report } = await ask(request, readReport, { utr });
    const { archived } = await ask(request, readArchivedMail, { utr });
    const mayChange = viewerOf(request).role !== 'viewer';
    const action = mayChange && <Actions summary={summary} report={report} now={clock.now()} />;
    const content = (
      <>
        {report.ab_test !== null && <Variants utr={utr} test={report.ab_test} mayChoose={mayChange} />}
        <Overview summary={summary} report={report} usual={await ask(request, readUsualRates, { utr })} />
        <ArchiveCard {...{ utr, archived, mayChange }} />
      </>
    );
    return sendPart(request, reply, { summary, now: clock.now(), current: 'overview' }, content, action);
  });
  await variantChoice(app);
  await campaignActions(app);
  await archiveActions(app);
  await app.register(resendScreen);
  await linksScreen(app, { clock });
  await previewScreen(app, { clock });
  await sketchOfMail(app);
  await recipientsScreen(app, { clock });
  await whyScreen(app);
}
