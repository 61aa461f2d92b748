/** The designer of a mail, within a page that leads back. */
import type { FastifyInstance } from 'fastify';
import { READ } from '../../../../http/pages/layout.ts';
import { LinkButton } from '../../../components/button.tsx';
import { languageOf, sendPage } from '../../../page.tsx';
import { viewerOf } from '../../../signed-in.ts';
import { useLanguage } from '../../../words/index.ts';
import type { ComposedKind, ComposedParams } from '../composed.ts';

export async function designScreen(app: FastifyInstance, kind: ComposedKind): Promise<void> {
  app.route<{ Params: ComposedParams }>({
    method: READ,
    url: `${kind.route}/design`,
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const mail = await kind.read(request, request.params);
      // The page may be open at another address than the one in links.
      const token = (await mail.readDesignUrl()).split('/').at(-1) ?? '';
      const language = languageOf(request, viewer);
      const title = language.say('compose.design.title');
      const frame = { title, section: kind.section, action: <Back href={mail.address('content')} /> } as const;
      return sendPage(request, reply, viewer, frame, <Designer source={`/design/${token}?lang=${language.code}`} />);
    },
  });
}

function Back({ href }: { href: string }) {
  return <LinkButton href={href}>{useLanguage().say('compose.design.back')}</LinkButton>;
}

function Designer({ source }: { source: string }) {
  return <iframe class="designer" src={source} title={useLanguage().say('compose.design.frame')} />;
}
