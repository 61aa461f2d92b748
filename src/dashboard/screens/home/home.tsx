/** Home: what to do next, what is under way, how it went, and whether all is well. */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../../deps.ts';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient } from '../../api-client.ts';
import { LinkButton } from '../../components/button.tsx';
import { languageOf, sendPage } from '../../page.tsx';
import { viewerOf } from '../../signed-in.ts';
import type { Viewer } from '../../viewer.ts';
import { Audience } from './audience.tsx';
import { LastMailings, UnderWay } from './campaigns.tsx';
import { Checklist, needsChecklist } from './checklist.tsx';
import { Alerts, Health } from './health.tsx';
import type { Overview } from './overview.ts';

export async function homeScreen(app: FastifyInstance, { clock }: Deps): Promise<void> {
  app.route({
    method: READ,
    url: '/',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const { overview } = await new ApiClient(app, request).get<{ overview: Overview }>('/overview');
      const language = languageOf(request, viewer);
      const frame = {
        title: language.say('nav.home'),
        section: 'home',
        ...(viewer.role !== 'viewer' && {
          action: (
            <div class="buttons">
              <LinkButton href="/people/import" look="plain" icon="plus">
                {language.say('home.import')}
              </LinkButton>
              <LinkButton href="/mailings/new" icon="plus">
                {language.say('compose.new')}
              </LinkButton>
            </div>
          ),
        }),
      } as const;
      return sendPage(request, reply, viewer, frame, <Home overview={overview} now={clock.now()} viewer={viewer} />);
    },
  });
}

function Home({ overview, now, viewer }: { overview: Overview; now: Date; viewer: Viewer }) {
  const { campaigns, last_mailings: mailings, audience, health, setup } = overview;
  return (
    <>
      <Alerts health={health} />
      {needsChecklist(overview) && <Checklist overview={overview} now={now} viewer={viewer} />}
      {(campaigns.length > 0 || mailings.length > 0) && <UnderWay campaigns={campaigns} now={now} />}
      {(campaigns.length > 0 || mailings.length > 0) && <LastMailings mailings={mailings} now={now} />}
      <div class="two-thirds">
        <Audience audience={audience} />
        <Health health={health} setup={setup} now={now} isOwner={viewer.role === 'owner'} />
      </div>
    </>
  );
}
