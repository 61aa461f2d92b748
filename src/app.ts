/**
 * Builds the HTTP application: the API and the pages of recipients. The dashboard is a second application, which the first request for an
 * unknown URL outside /api builds, because building it takes a tenth of the CPU time of a start, and many services send for days without
 * anybody who opens a page.
 */
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import { api } from './api.ts';
import { createApp, installCommon, numberRequests } from './http/application.ts';
import { limitConnections } from './http/connections.ts';
import { installOpenapi } from './http/openapi/openapi.ts';
import { isPassedOn, passUnknown } from './http/pass-unknown.ts';
import { limitBodies } from './http/requests/bodies.ts';
import { refuseRequests } from './http/server-options.ts';
import { Backups } from './installation/backups/backups.ts';
import type { Deps } from './operations/deps.ts';
import { pages } from './pages/index.ts';
import { SENT_EVENTS } from './webhooks/operations/event-types.ts';

/** The application. `dashboard` returns the application of the dashboard, which the first call builds; tests call it. */
export type App = FastifyInstance & { dashboard: () => Promise<FastifyInstance> };

/** Returns the application, ready for `listen` or `inject`. */
export async function buildApp(
  parts: Omit<Deps, 'backups'>,
  logger: NonNullable<FastifyServerOptions['logger']> = false,
): Promise<App> {
  const deps = { ...parts, backups: new Backups(parts.config.DATABASE_PATH) };
  const genReqId = numberRequests();
  const app = createApp(deps.config, { logger, genReqId }, isPassedOn);
  const common = { deps, genReqId, limits: [limitConnections(app), limitBodies(app, deps)] };
  refuseRequests(app);
  const dashboard = passUnknown(app, async () => (await import('./dashboard.ts')).buildDashboard(app, common));
  await installCommon(app, common);
  await installOpenapi(app, SENT_EVENTS);
  await app.register((scope) => api(scope, deps), { prefix: '/api' });
  await app.register((scope) => pages(scope, deps));
  return Object.assign(app, { dashboard });
}
