/** The settings: one page for each tab. */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../../deps.ts';
import type { SignIns } from '../../../users/sign-in.ts';
import { webhookScreens } from '../../../webhooks/screens/webhooks.tsx';
import { viewerOf } from '../../signed-in.ts';
import { accountScreen } from './account.tsx';
import { archiveScreen } from './archive.tsx';
import { auditScreen } from './audit.tsx';
import { backupScreen } from './backup/backup.tsx';
import { brandScreen } from './brand.tsx';
import { healthScreen } from './health.tsx';
import { keyScreen } from './keys.tsx';
import { nodeScreen } from './nodes.tsx';
import { returnScreen } from './returns/returns.tsx';
import { senderForms } from './senders/form.tsx';
import { senderScreen } from './senders/senders.tsx';
import { relayForms } from './sending/form.tsx';
import { sendingScreen } from './sending/sending.tsx';
import { sessionScreen } from './sessions.tsx';
import { timesScreen } from './times/times.tsx';
import { trackingScreen } from './tracking.tsx';
import { userScreen } from './users.tsx';

export async function settingsScreens(app: FastifyInstance, deps: Deps & { signIns: SignIns }): Promise<void> {
  app.get('/settings', (request, reply) =>
    reply.redirect(viewerOf(request).role === 'owner' ? '/settings/senders' : '/settings/account', 303),
  );
  await userScreen(app, deps);
  await keyScreen(app);
  await webhookScreens(app);
  await auditScreen(app);
  await senderScreen(app, deps);
  await senderForms(app, deps);
  await sendingScreen(app, deps);
  await relayForms(app);
  await timesScreen(app);
  await nodeScreen(app, deps);
  await returnScreen(app, deps);
  await trackingScreen(app);
  await healthScreen(app, deps);
  await brandScreen(app);
  await app.register(archiveScreen);
  await app.register(backupScreen);
  await accountScreen(app, deps);
  await sessionScreen(app, deps);
}
