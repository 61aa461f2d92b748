/** Registers the API: first what applies to every endpoint, then one file per resource. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { audienceRoutes, placeRoutes, sunsetRoutes, trackingRoutes } from './audience/routes.ts';
import { automationRoutes } from './automations/routes.ts';
import { archiveRoutes } from './campaigns/archive/routes.ts';
import { homeRoutes } from './campaigns/home/routes.ts';
import { mailSettingsRoutes } from './campaigns/mail-settings/routes.ts';
import { progressRoutes } from './campaigns/progress/routes.ts';
import { singleSendResendRoutes, singleSendRoutes, singleSendVariantRoutes } from './campaigns/routes.ts';
import { sentMailRoutes } from './campaigns/sent-mails/routes.ts';
import { feedRoutes } from './feeds/routes.ts';
import { formRoutes, subscriptionRoutes } from './forms/routes.ts';
import { installCallers } from './http/authentication.ts';
import { warnOfContent } from './http/content-warning-header.ts';
import { installErrors } from './http/errors.ts';
import { installForms } from './http/requests/forms.ts';
import { installValidation } from './http/requests/validation.ts';
import { backupRoutes } from './installation/backups/routes.ts';
import { healthRoutes, sendingHoldRoutes } from './installation/routes.ts';
import type { RouteRule } from './operations/callers.ts';
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

type Feature = FastifyPluginAsyncTypebox<Deps>;

/**
 * The routes of every feature, and the scope with which key pairs use them (src/operations/callers.ts). `everything`: a
 * key pair with a narrower scope can at most read them. Each feature is a plugin, so that its hooks and body parsers do
 * not affect others.
 */
const FEATURES: readonly [routes: Feature, scope: RouteRule['scope']][] = [
  [homeRoutes, 'everything'],
  [healthRoutes, 'everything'],
  [backupRoutes, 'everything'],
  [sendingHoldRoutes, 'everything'],
  [audienceRoutes, 'contacts'],
  [formRoutes, 'campaigns'],
  [subscriptionRoutes, 'contacts'],
  [versionRoutes, 'campaigns'],
  [templateRoutes, 'campaigns'],
  [singleSendRoutes, 'campaigns'],
  [sendingTimeRoutes, 'everything'],
  [mailSettingsRoutes, 'everything'],
  [sentMailRoutes, 'campaigns'],
  [singleSendResendRoutes, 'campaigns'],
  [trackingRoutes, 'contacts'],
  [archiveRoutes, 'campaigns'],
  [feedRoutes, 'campaigns'],
  [transactionalRoutes, 'transactional'],
  [singleSendVariantRoutes, 'campaigns'],
  [progressRoutes, 'campaigns'],
  [automationRoutes, 'campaigns'],
  [designLinkRoutes, 'campaigns'],
  [pictureRoutes, 'campaigns'],
  [brandRoutes, 'campaigns'],
  [savedBlockRoutes, 'campaigns'],
  [placeRoutes, 'contacts'],
  [senderRoutes, 'everything'],
  [sunsetRoutes, 'contacts'],
  [returnedMailRoutes, 'everything'],
  [outboxRoutes, 'everything'],
  [relayRoutes, 'everything'],
  [webhookRoutes, 'everything'],
  [userRoutes, 'everything'],
];

/** Registers all endpoints under /api. By default a GET takes the role of a viewer, and anything else that of an editor. */
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

  let scope: RouteRule['scope'];
  app.addHook('onRoute', (route) => {
    route.config = { role: route.method === 'GET' ? 'viewer' : 'editor', ...route.config, scope };
  });
  for (const [routes, ofRoutes] of FEATURES) {
    scope = ofRoutes;
    await app.register(routes, deps);
  }
}
