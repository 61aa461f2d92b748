/** Registers the API: first what applies to every endpoint, then one file per resource. */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { installCallers } from '../http/callers.ts';
import { installErrors } from '../http/errors.ts';
import { installForms } from '../http/requests/forms.ts';
import { installValidation } from '../http/requests/validation.ts';
import { auditRoutes } from './audit.ts';
import { automationReportRoutes } from './automation-reports.ts';
import { automationScheduleRoutes } from './automation-schedules.ts';
import { automationRoutes } from './automations.ts';
import { contactTypeRoutes } from './contact-types.ts';
import { contactRoutes } from './contacts.ts';
import { contactFileRoutes } from './contacts-files.ts';
import { contactJobRoutes } from './contacts-jobs.ts';
import { contactMappedImportRoutes } from './contacts-mapped-imports.ts';
import { contactPersonRoutes } from './contacts-person.ts';
import { contactSearchRoutes } from './contacts-search.ts';
import { designLinkRoutes } from './design-links.ts';
import { fieldRoutes } from './fields.ts';
import { globalUnsubscribeRoutes } from './global-unsubscribes.ts';
import { healthRoutes } from './health.ts';
import { keyRoutes } from './keys.ts';
import { liveRoutes } from './live.ts';
import { meRoutes } from './me.ts';
import { outboxRoutes } from './outbox.ts';
import { overviewRoutes } from './overview.ts';
import { passkeyRoutes } from './passkeys.ts';
import { pictureRoutes } from './pictures.ts';
import { placeRoutes } from './places.ts';
import { segmentRoutes } from './segments.ts';
import { senderCheckRoutes } from './sender-checks.ts';
import { senderRoutes } from './senders.ts';
import { sessionRoutes } from './sessions.ts';
import { singleSendActionRoutes } from './single-send-actions.ts';
import { singleSendDraftRoutes } from './single-send-drafts.ts';
import { singleSendListRoutes } from './single-send-lists.ts';
import { singleSendReportRoutes } from './single-send-reports.ts';
import { singleSendRoutes } from './single-sends.ts';
import { suppressionRoutes } from './suppressions.ts';
import { templateRoutes } from './templates.ts';
import { unsubscribeGroupRoutes } from './unsubscribe-groups.ts';
import { userRoutes } from './users.ts';

/** Registers all endpoints under /api. */
export async function api(app: FastifyInstance, deps: Deps): Promise<void> {
  app.addHook('onRoute', (route) => {
    // Fastify validates before preHandler. The result is only attached, and answered after the key check, so that a caller without keys learns nothing about fields.
    route.attachValidation = true;
  });
  app.addHook('onSend', (_request, reply, _payload, next) => {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    next();
  });
  installErrors(app, deps);
  await installForms(app);
  installCallers(app, deps);
  installValidation(app);

  await app.register(overviewRoutes, deps);
  await app.register(healthRoutes, deps);
  await app.register(globalUnsubscribeRoutes, deps);
  await app.register(unsubscribeGroupRoutes, deps);
  await app.register(segmentRoutes, deps);
  await app.register(contactTypeRoutes, deps);
  await app.register(contactRoutes, deps);
  await app.register(contactFileRoutes, deps);
  await app.register(contactMappedImportRoutes, deps);
  await app.register(contactSearchRoutes, deps);
  await app.register(contactPersonRoutes, deps);
  await app.register(contactJobRoutes, deps);
  await app.register(fieldRoutes, deps);
  await app.register(templateRoutes, deps);
  await app.register(singleSendRoutes, deps);
  await app.register(singleSendActionRoutes, deps);
  await app.register(singleSendReportRoutes, deps);
  await app.register(singleSendListRoutes, deps);
  await app.register(singleSendDraftRoutes, deps);
  await app.register(liveRoutes, deps);
  await app.register(automationRoutes, deps);
  await app.register(automationScheduleRoutes, deps);
  await app.register(automationReportRoutes, deps);
  await app.register(designLinkRoutes, deps);
  await app.register(pictureRoutes, deps);
  await app.register(placeRoutes);
  await app.register(senderRoutes, deps);
  await app.register(senderCheckRoutes, deps);
  await app.register(suppressionRoutes, deps);
  await app.register(outboxRoutes, deps);
  await app.register(userRoutes, deps);
  await app.register(meRoutes, deps);
  await app.register(passkeyRoutes, deps);
  await app.register(sessionRoutes, deps);
  await app.register(keyRoutes, deps);
  await app.register(auditRoutes, deps);
}
