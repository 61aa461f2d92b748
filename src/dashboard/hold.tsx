/** The banner on every page that all sending is held, with its release by an operator, or that mail waits for a sender node. */
import type { FastifyInstance } from 'fastify';
import { ApiClient, refusalText } from './api-client.ts';
import { Confirm } from './components/confirm.tsx';
import { Island } from './components/island.tsx';
import { Notice } from './components/surface.tsx';
import { setFlash } from './flash.ts';
import type { Viewer } from './viewer.ts';
import { useLanguage } from './words/index.ts';

/** How often it is looked whether mail still waits for a sender node. */
const LOOK_MS = 5000;

interface Hold {
  held_reason: string | null;
  releasable: 0 | 1;
  waits_reason: string | null;
  has_nodes: 0 | 1;
  mails: number;
  due_single_sends: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What the API says about the hold of all sending; null before it was asked, and where nobody is signed in. */
    hold: Hold | null;
  }
  interface FastifyContextConfig {
    /** Whether the route answers with parts of a page, which have no banner. */
    isPart?: true;
  }
}

/** Asks for each page of the routes registered after this call whether sending is held. `app` must have its pages behind the sign-in. */
export function watchHold(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { handler, config } = route;
    if (config?.isPart) return;
    route.handler = async function (request, reply) {
      const { hold } = await new ApiClient(app, request).get<{ hold: Hold }>('/sending/hold');
      request.hold = hold;
      return handler.call(this, request, reply);
    };
  });

  app.post('/sending/release', async (request, reply) => {
    const answer = await new ApiClient(app, request).send('POST', '/sending/release');
    if (answer.message === undefined) setFlash(reply, 'warn', 'hold.not', { reason: refusalText(answer) });
    else setFlash(reply, 'good', 'hold.released');
    return reply.redirect('/', 303);
  });
}

export function HoldBanner({ hold, viewer }: { hold: Hold | null | undefined; viewer: Viewer }) {
  const language = useLanguage();
  if (!hold?.held_reason) return hold?.has_nodes ? <Waits reason={hold.waits_reason} viewer={viewer} /> : null;
  return (
    <Notice tone="warn">
      <p>{language.say('home.alert.held', { reason: language.sentence(hold.held_reason) })}</p>
      {viewer.isOperator && hold.releasable === 1 && (
        <Confirm
          id="release-sending"
          action="/sending/release"
          label={language.say('hold.release')}
          look="primary"
          title={language.say('hold.question')}
        >
          <p>{language.say('hold.mails', { count: hold.mails })}</p>
          <p>{language.say('hold.due', { count: hold.due_single_sends })}</p>
          <p>{language.say('hold.text')}</p>
        </Confirm>
      )}
      {!viewer.isOperator && <p>{language.say('hold.ask')}</p>}
    </Notice>
  );
}

/** Why mail waits for a sender node; it disappears by itself, so the part is there also where mail leaves. */
function Waits({ reason, viewer }: { reason: string | null; viewer: Viewer }) {
  const language = useLanguage();
  if (reason === null) return <div id="mail-waits" data-active="no" />;
  return (
    <Island name="live" data={{ every: LOOK_MS, results: '#mail-waits' }}>
      <div id="mail-waits" data-active="yes">
        <Notice tone="warn">
          <p>{language.sentence(reason)}</p>
          {viewer.isOperator ? (
            <p>
              <a href="/settings/nodes">{language.say('hold.nodes')}</a>
            </p>
          ) : (
            <p>{language.say('hold.waits')}</p>
          )}
        </Notice>
      </div>
    </Island>
  );
}
