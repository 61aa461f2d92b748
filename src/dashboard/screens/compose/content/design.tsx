/** The designer of a mailing's mail, within a page that leads back. */
import type { FastifyInstance } from 'fastify';
import { READ } from '../../../../http/pages/layout.ts';
import { ApiClient } from '../../../api-client.ts';
import { LinkButton } from '../../../components/button.tsx';
import { languageOf, sendPage } from '../../../page.tsx';
import { viewerOf } from '../../../signed-in.ts';
import { useLanguage } from '../../../words/index.ts';
import { stepAddress } from '../frame.tsx';
import { readDraft } from '../records.ts';

export async function designScreen(app: FastifyInstance): Promise<void> {
  app.route<{ Params: { utr: string } }>({
    method: READ,
    url: '/mailings/:utr/edit/design',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const api = new ApiClient(app, request);
      const { utr } = await readDraft(api, request.params.utr);
      const { report } = await api.get<{ report: { design_url: string } }>('/single-send/report', { utr });
      // The page may be open at another address than the one in links.
      const token = report.design_url.split('/').at(-1) ?? '';
      const title = languageOf(request, viewer).say('compose.design.title');
      const frame = { title, section: 'mailings', action: <Back utr={utr} /> } as const;
      return sendPage(request, reply, viewer, frame, <Designer source={`/design/${token}`} />);
    },
  });
}

function Back({ utr }: { utr: string }) {
  return <LinkButton href={stepAddress(utr, 'content')}>{useLanguage().say('compose.design.back')}</LinkButton>;
}

function Designer({ source }: { source: string }) {
  return <iframe class="designer" src={source} title={useLanguage().say('compose.design.frame')} />;
}
