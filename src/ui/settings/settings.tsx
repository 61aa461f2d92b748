/** The pages of the settings, and the page that lists them. */
import type { FastifyInstance } from 'fastify';
import { trackingScreen } from '../../audience/tracking/screens/tracking.tsx';
import { archiveScreen } from '../../campaigns/archive/screens/archive.tsx';
import { mailSettingsScreen } from '../../campaigns/mail-settings/screens/mails.tsx';
import { backupScreen } from '../../installation/backups/screens/backup.tsx';
import { healthScreen } from '../../installation/screens/health.tsx';
import { nodeScreen } from '../../installation/screens/nodes.tsx';
import type { Deps } from '../../operations/deps.ts';
import { sendingScreens } from '../../senders/relays/screens/sending.tsx';
import { returnScreen } from '../../senders/returned-mail/screens/returns.tsx';
import { senderScreens } from '../../senders/screens/senders.tsx';
import { timesScreen } from '../../senders/sending-times/screens/times.tsx';
import { brandScreen } from '../../templates/brand/screens/brand.tsx';
import { accountScreen } from '../../users/screens/account.tsx';
import { auditScreen } from '../../users/screens/audit.tsx';
import { keyScreen } from '../../users/screens/keys.tsx';
import { sessionScreen } from '../../users/screens/sessions.tsx';
import { userScreen } from '../../users/screens/users.tsx';
import type { SignIns } from '../../users/sign-in.ts';
import { webhookScreens } from '../../webhooks/screens/webhooks.tsx';
import { sendSettingsIndex } from './frame.tsx';

/** Registers all settings pages. */
export async function settingsScreens(app: FastifyInstance, deps: Deps & { signIns: SignIns }): Promise<void> {
  app.get('/settings', sendSettingsIndex);
  if (process.env.NODE_ENV === 'development') await (await import('../gallery.tsx')).galleryScreen(app);
  await userScreen(app);
  await keyScreen(app);
  await webhookScreens(app);
  await auditScreen(app);
  await senderScreens(app);
  await sendingScreens(app);
  await timesScreen(app);
  await mailSettingsScreen(app);
  await nodeScreen(app, deps);
  await returnScreen(app, deps);
  await trackingScreen(app);
  await healthScreen(app, deps);
  await brandScreen(app);
  await app.register(archiveScreen);
  await app.register(backupScreen);
  await accountScreen(app, deps);
  await sessionScreen(app);
}
