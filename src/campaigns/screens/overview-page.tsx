/** The overview page of a campaign. */
import type { FastifyInstance } from 'fastify';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import type { Deps } from '../../operations/deps.ts';
import { ask } from '../../ui/operations.ts';
import { viewerOf } from '../../ui/signed-in.ts';
import { readArchivedMail } from '../archive/operations.ts';
import { readReport, readSummary, readUsualRates } from '../operations/reports.ts';
import { Actions, ArchiveCard, sendPart } from './campaign.tsx';
import { Overview } from './overview.tsx';
import { Variants } from './variant-results.tsx';

/** Registers the overview page, which is the first page of a campaign. */
export async function overviewPage(app: FastifyInstance, { clock }: Pick<Deps, 'clock'>): Promise<void> {
  pageRoute<ByUtr>(app, '/campaigns/:utr', async (request, reply) => {
    const { utr } = request.params;
    const summary = await ask(request, readSummary, { utr });
    const { report } = await ask(request, readReport, { utr });
    const { archived } = await ask(request, readArchivedMail, { utr });
    const mayChange = viewerOf(request).role !== 'viewer';
    const action = mayChange && <Actions summary={summary} report={report} now={clock.now()} />;
    const content = (
      <>
        <Overview summary={summary} report={report} usual={await ask(request, readUsualRates, { utr })}>
          {report.ab_test !== null && <Variants utr={utr} test={report.ab_test} mayChoose={mayChange} />}
        </Overview>
        <ArchiveCard utr={utr} archived={archived} mayChange={mayChange} />
      </>
    );
    return sendPart(request, reply, { summary, now: clock.now(), current: 'overview' }, content, action);
  });
}
