/** The pages and endpoints that need neither keys nor cookies: those for recipients and visitors, and those for operating the service. */
import type { FastifyInstance } from 'fastify';
import { healthRoutes } from '../http/health.ts';
import { metricsPage } from '../http/metrics.ts';
import { referencePage } from '../http/openapi/reference-page.tsx';
import type { Deps } from '../operations/deps.ts';
import { archivePages } from './archive.tsx';
import { countriesPage } from './countries.tsx';
import { databaseSource } from './database-source.ts';
import { confirmRoutes } from './forms/confirm.tsx';
import { formRoutes } from './forms/form.tsx';
import { providerEventRoutes } from './provider-events.ts';
import { installPageRules, recipientPages } from './recipient-pages.ts';
import { verifyPage } from './verify.tsx';

/** Registers all public pages and endpoints outside /api. */
export async function pages(app: FastifyInstance, deps: Deps): Promise<void> {
  installPageRules(app);
  await recipientPages(app, databaseSource(app, deps), deps.clock);
  await archivePages(app, deps);
  await verifyPage(app, deps);
  await formRoutes(app, deps);
  await confirmRoutes(app, deps);
  await app.register(providerEventRoutes, deps);
  await referencePage(app, deps);
  await countriesPage(app, deps);
  await healthRoutes(app, deps);
  await metricsPage(app, deps);
}
