/** One mailing: its state and progress, what it achieved, why people were left out, and what can be done with it. */
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../../clock.ts';
import { READ } from '../../../http/page-layout.ts';
import { ApiClient } from '../../api-client.ts';
import { sendPage } from '../../page.tsx';
import { viewerOf } from '../../signed-in.ts';
import { Actions, mailingActions } from './actions.tsx';
import { Head } from './head.tsx';
import { Overview } from './overview.tsx';
import { recipientsScreen } from './recipients.tsx';
import { type Report, readSummary } from './records.ts';

/** Registers the page of a mailing and what can be done with it. */
export async function mailingScreen(app: FastifyInstance, { clock }: { clock: Clock }): Promise<void> {
  app.route<{ Params: { utr: string } }>({
    method: READ,
    url: '/mailings/:utr',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const api = new ApiClient(app, request);
      const { utr } = request.params;
      const summary = await readSummary(api, utr);
      const { report } = await api.get<{ report: Report }>('/single-send/report', { utr });
      const frame = {
        title: summary.single_send_name,
        section: 'mailings',
        ...(viewer.role !== 'viewer' && { action: <Actions summary={summary} report={report} /> }),
      } as const;
      const content = (
        <>
          <Head summary={summary} now={clock.now()} current="overview" />
          <Overview summary={summary} report={report} />
        </>
      );
      return sendPage(request, reply, viewer, frame, content);
    },
  });
  await app.register(mailingActions);
  await app.register(recipientsScreen, { clock });
}
