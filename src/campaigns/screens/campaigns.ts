/** Registers all pages of campaigns except those for composing. */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../operations/deps.ts';
import { calendarScreen } from './calendar.tsx';
import { archiveActions, campaignActions } from './campaign.tsx';
import { linksScreen } from './links.tsx';
import { campaignList } from './list.tsx';
import { previewScreen, sketchOfMail } from './mail.tsx';
import { overviewPage } from './overview-page.tsx';
import { recipientsScreen } from './recipients.tsx';
import { resendScreen } from './resend.tsx';
import { variantChoice } from './variant-results.tsx';
import { whyScreen } from './why.tsx';

/** Registers the list, the page of a campaign, its subpages and its actions. */
export async function campaignScreens(app: FastifyInstance, { clock, config }: Deps): Promise<void> {
  await campaignList(app, { clock });
  await calendarScreen(app, { clock, config });
  await overviewPage(app, { clock });
  await variantChoice(app);
  await campaignActions(app);
  await archiveActions(app);
  // Registered as a plugin, so that its hook applies only to its own pages.
  await app.register(resendScreen);
  await linksScreen(app, { clock });
  await previewScreen(app, { clock });
  await sketchOfMail(app);
  await recipientsScreen(app, { clock });
  await whyScreen(app);
}
