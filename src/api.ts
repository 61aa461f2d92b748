/** Registers the API: first what applies to every endpoint, then one file per resource. */
import type { FastifyInstance } from 'fastify';
import { audienceRoutes, placeRoutes, sunsetRoutes, trackingRoutes } from './audience/routes.ts';
import { automationRoutes } from './automations/routes.ts';
import { archiveRoutes } from './campaigns/archive/routes.ts';
import { mailSettingsRoutes } from './campaigns/mail-settings/routes.ts';
import { overviewRoutes } from './campaigns/overview/routes.ts';
import {
  progressRoutes,
  singleSendResendRoutes,
  singleSendRoutes,
  singleSendVariantRoutes,
} from './campaigns/routes.ts';
import { feedRoutes } from './feeds/routes.ts';
import { formRoutes } from './forms/routes.ts';
import { installCallers } from './http/authentication.ts';
import { warnOfContent } from './http/content-warning-header.ts';
import { installErrors } from './http/errors.ts';
import { installForms } from './http/requests/forms.ts';
import { installValidation } from './http/requests/validation.ts';
import { backupRoutes } from './installation/backups/routes.ts';
import { healthRoutes, sendingHoldRoutes } from './installation/routes.ts';
import type { Deps } from './operations/deps.ts';
import { outboxRoutes } from './senders/outbox/routes.ts';
import { relayRoutes } from './senders/relays/routes.ts';
import { returnedMailRoutes } from './senders/returned-mail/routes.ts';
import { senderRoutes } from './senders/routes.ts';
import { sendingTimeRoutes } from './senders/sending-times/routes.ts';
import { brandRoutes } from './templates/brand/routes.ts';
import { designLinkRoutes, savedBlockRoutes } from './templates/designs/routes.ts';
import { pictureRoutes } from './templates/pictures/routes.ts';
import { templateRoutes } from './templates/routes.ts';
import { versionRoutes } from './templates/versions/routes.ts';
import { transactionalRoutes } from './transactional/routes.ts';
import { userRoutes } from './users/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/** Registers all endpoints under /api. */
export async function api(app: FastifyInstance, deps: Deps): Promise<void> {
  app.addHook('onRoute', (route) => {
    // Fastify validates before preHandler. The result is only attached, and answered after the key check, so that a caller
    // without keys learns nothing about the fields.
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
  warnOfContent(app, deps);

  // Each resource is a plugin, so that its hooks and body parsers do not affect other resources.
  await app.register(overviewRoutes, deps);
  await app.register(healthRoutes, deps);
  await app.register(backupRoutes, deps);
  await app.register(sendingHoldRoutes, deps);
  await app.register(audienceRoutes, deps);
  await app.register(formRoutes, deps);
  await app.register(versionRoutes, deps);
  await app.register(templateRoutes, deps);
  await app.register(singleSendRoutes, deps);
  await app.register(sendingTimeRoutes, deps);
  await app.register(mailSettingsRoutes, deps);
  await app.register(singleSendResendRoutes, deps);
  await app.register(trackingRoutes, deps);
  await app.register(archiveRoutes, deps);
  await app.register(feedRoutes, deps);
  await app.register(transactionalRoutes, deps);
  await app.register(singleSendVariantRoutes, deps);
  await app.register(progressRoutes, deps);
  await app.register(automationRoutes, deps);
  await app.register(designLinkRoutes, deps);
  await app.register(pictureRoutes, deps);
  await app.register(brandRoutes, deps);
  await app.register(savedBlockRoutes, deps);
  await app.register(placeRoutes, deps);
  await app.register(senderRoutes, deps);
  await app.register(sunsetRoutes, deps);
  await app.register(returnedMailRoutes, deps);
  await app.register(outboxRoutes, deps);
  await app.register(relayRoutes, deps);
  await app.register(webhookRoutes, deps);
  await app.register(userRoutes, deps);
}
