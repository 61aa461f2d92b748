/** The pages that recipients and owners open in a browser, without keys or cookies, and the operational endpoints. */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { healthPages } from '../http/health.ts';
import { metricsPage } from '../http/metrics.ts';
import { referencePage } from '../http/openapi/reference-page.ts';
import { archivePages } from './archive/archive.ts';
import { countriesPage } from './countries.ts';
import { databaseSource } from './database-source.ts';
import { confirmRoutes } from './forms/confirm.ts';
import { formRoutes } from './forms/form.ts';
import { providerEventRoutes } from './provider-events.ts';
import { installPageRules, recipientPages } from './recipient-pages.ts';
import { verifyPage } from './verify.ts';

/** Registers everything that is served outside /api. */
export async function pages(app: FastifyInstance, deps: Deps): Promise<void> {
  installPageRules(app);
  await recipientPages(app, databaseSource(app, deps), deps.clock);
  await app.register(archivePages, deps);
  await app.register(verifyPage, deps);
  await app.register(formRoutes, deps);
  await app.register(confirmRoutes, deps);
  await app.register(providerEventRoutes, deps);
  await app.register(referencePage, deps);
  await app.register(countriesPage, deps);
  await app.register(healthPages, deps);
  await app.register(metricsPage, deps);
}
