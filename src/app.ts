/** Builds the HTTP application. Fastify and Ajv options are set only here, so that tests and production use the same ones. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { api } from './api.ts';
import { installConnectionLimits } from './http/connections.ts';
import { installCookies, installSessions } from './http/cookies.ts';
import { installLockWaits, installWriteAnnouncements } from './http/lock-waits.ts';
import { installOpenapi } from './http/openapi/openapi.ts';
import { installBodyLimits } from './http/requests/bodies.ts';
import { MAX_FORM_BYTES } from './http/requests/forms.ts';
import { installSchemaCompilers } from './http/schema-compilers.ts';
import { installLineEnd, refuseRequests, serverOptions } from './http/server-options.ts';
import { Backups } from './installation/backups/backups.ts';
import type { Deps } from './operations/deps.ts';
import { pages } from './pages/index.ts';
import { designPage } from './templates/designs/screens/page.ts';
import { dashboard } from './ui/index.ts';
import { installMailFrames } from './ui/mail-frame.ts';
import { answerUnknown } from './ui/signed-in.ts';
import { SENT_EVENTS } from './webhooks/operations/event-types.ts';

/** Returns the application, ready for `listen` or `inject`. */
export async function buildApp(
  parts: Omit<Deps, 'backups'>,
  logger: NonNullable<FastifyServerOptions['logger']> = false,
): Promise<FastifyInstance> {
  const { config } = parts;
  const deps = { ...parts, backups: new Backups(config.DATABASE_PATH) };
  const app = Fastify({
    ...serverOptions(config, logger),
    bodyLimit: MAX_FORM_BYTES,
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.decorate('deps', deps);
  installSchemaCompilers(app);
  installLineEnd(app);
  refuseRequests(app);
  installConnectionLimits(app);
  installBodyLimits(app, deps);
  await installCookies(app);
  await installOpenapi(app, SENT_EVENTS);
  installWriteAnnouncements(app);
  installLockWaits(app, deps);
  await app.register((scope) => api(scope, deps), { prefix: '/api' });
  await app.register(async (scope) => {
    installSessions(scope, deps);
    await pages(scope, deps);
    scope.setNotFoundHandler(answerUnknown);
    installMailFrames(scope, deps);
    await scope.register(dashboard, deps);
    await scope.register(designPage, deps);
  });
  return app;
}
