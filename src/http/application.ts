/**
 * Creates Fastify applications, and installs what the API and the dashboard have in common. Fastify and Ajv options are set only here, so
 * that both and the tests use the same ones.
 */
import Fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify';
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
  genReqId: (raw: object) => string;
  /** Each installs limits of the HTTP server in an application. Both applications share what is counted. */
  limits: ((app: FastifyInstance) => void)[];
}

/**
 * Returns a function that gives each request an id for the log, in the form of Fastify: `req-1`, `req-2` … in base 36. Both applications use
 * the same function, so that a request keeps its id when it is passed on.
 */
export function numberRequests(): (raw: object) => string {
  const ids = new WeakMap<object, string>();
  let last = 0;
  return (raw) => {
    const id = ids.get(raw) ?? `req-${(++last).toString(36)}`;
    ids.set(raw, id);
    return id;
  };
}

/** Creates an application without routes. `options` say where it logs; another application logs the requests of `isLoggedElsewhere`. */
export function createApp(
  config: Config,
  options: Pick<FastifyServerOptions, 'logger' | 'loggerInstance' | 'genReqId'>,
  isLoggedElsewhere?: (request: FastifyRequest) => boolean,
): FastifyInstance {
  return Fastify({
    ...serverOptions(config, isLoggedElsewhere),
    bodyLimit: MAX_FORM_BYTES,
    // By default a plugin that takes ten seconds fails, as those of the dashboard do when its first page is opened on a busy machine.
    pluginTimeout: 0,
    ...options,
  });
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
