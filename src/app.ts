/**
 * Builds the HTTP application: the API and the pages of recipients. The dashboard is a second application, which is built when somebody
 * first asks for one of its pages, because that takes a tenth of the CPU time of a start.
 */
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import { api } from './api.ts';
import { createApp, installCommon, numberRequests } from './http/application.ts';
import { limitConnections } from './http/connections.ts';
import { installOpenapi } from './http/openapi/openapi.ts';
import { passUnknown } from './http/pass-unknown.ts';
import { limitBodies } from './http/requests/bodies.ts';
import { refuseRequests } from './http/server-options.ts';
import { Backups } from './installation/backups/backups.ts';
import type { Deps } from './operations/deps.ts';
import { pages } from './pages/index.ts';
import { SENT_EVENTS } from './webhooks/operations/event-types.ts';

/** The application, and a function that returns the one of the dashboard, which its first call builds. */
export type App = FastifyInstance & { dashboard: () => Promise<FastifyInstance> };

/** Returns the application, ready for `listen` or `inject`. */
export async function buildApp(
  parts: Omit<Deps, 'backups'>,
  logger: NonNullable<FastifyServerOptions['logger']> = false,
): Promise<App> {
  const deps = { ...parts, backups: new Backups(parts.config.DATABASE_PATH) };
  const genReqId = numberRequests();
  const app = createApp(deps.config, { logger, genReqId });
  const common = { deps, genReqId, limits: [limitConnections(app.server), limitBodies(deps)] };
  refuseRequests(app);
  const dashboard = passUnknown(app, async () => (await import('./dashboard.ts')).buildDashboard(app, common));
  await installCommon(app, common);
  await installOpenapi(app, SENT_EVENTS);
  await app.register((scope) => api(scope, deps), { prefix: '/api' });
  await app.register((scope) => pages(scope, deps));
  return Object.assign(app, { dashboard });
}
