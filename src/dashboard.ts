/** Builds the second application: the dashboard with its pages for signing in and its static files, and the design page. */
import type { FastifyInstance } from 'fastify';
import { type Common, createApp, installCommon } from './http/application.ts';
import { installSessions } from './http/cookies.ts';
import { installPageRules } from './pages/recipient-pages.ts';
import { designPage } from './templates/designs/screens/page.ts';
import { dashboard } from './ui/index.ts';
import { installMailFrames } from './ui/mail-frame.ts';
import { answerUnknown } from './ui/signed-in.ts';

/** Returns the application, ready for requests that `main` passes on. It logs to the log of `main`. */
export async function buildDashboard(main: FastifyInstance, common: Common): Promise<FastifyInstance> {
  const { deps, genReqId } = common;
  const app = createApp(deps.config, { loggerInstance: main.log, genReqId });
  await installCommon(app, common);
  installPageRules(app);
  installSessions(app, deps);
  app.setNotFoundHandler(answerUnknown);
  installMailFrames(app, deps);
  await app.register(dashboard, deps);
  await app.register(designPage, deps);
  await app.ready();
  return app;
}
