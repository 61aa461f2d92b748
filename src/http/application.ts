/**
 * Creates Fastify applications, and installs what the API and the dashboard have in common. Fastify and Ajv options are set only here, so
 * that both and the tests use the same ones.
 */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import type { Config } from '../config.ts';
import type { Deps } from '../operations/deps.ts';
import { installCookies } from './cookies.ts';
import { installLockWaits, installWriteAnnouncements } from './lock-waits.ts';
import { MAX_FORM_BYTES } from './requests/forms.ts';
import { installSchemaCompilers } from './schema-compilers.ts';
import { installLineEnd, serverOptions } from './server-options.ts';

/** What both applications use. */
export interface Common {
  deps: Deps;
  genReqId: () => string;
  /** Each applies limits of the HTTP server to the requests to all routes registered after its call. */
  limits: ((app: FastifyInstance) => void)[];
}

/** Returns a function that gives each request a name for the log, in the form of Fastify: `req-1`, `req-2` … in base 36. */
export function numberRequests(): () => string {
  let last = 0;
  return () => `req-${(++last).toString(36)}`;
}

/** Creates an application without routes. `options` say where it logs. */
export function createApp(
  config: Config,
  options: Pick<FastifyServerOptions, 'logger' | 'loggerInstance' | 'genReqId'>,
): FastifyInstance {
  return Fastify({
    ...serverOptions(config),
    bodyLimit: MAX_FORM_BYTES,
    ...options,
  }).withTypeProvider<TypeBoxTypeProvider>();
}

/** Installs limits, cookies and what handlers need. Call it before the routes are registered. */
export async function installCommon(app: FastifyInstance, { deps, limits }: Common): Promise<void> {
  app.decorate('deps', deps);
  installSchemaCompilers(app);
  installLineEnd(app);
  for (const limit of limits) limit(app);
  await installCookies(app);
  installWriteAnnouncements(app);
  installLockWaits(app, deps);
}
