/** Composing a mailing in four steps that may be visited in any order, from nothing to sent. */
import type { FastifyInstance } from 'fastify';
import { requireEditor } from '../../../dashboard/signed-in.ts';
import type { Deps } from '../../../deps.ts';
import { READ } from '../../../http/pages/layout.ts';
import { audienceStep } from './audience.tsx';
import { checkStep } from './check.tsx';
import { MAILING } from './composed.tsx';
import { contentStep } from './content.tsx';
import { designScreen, htmlScreen, templatesScreen } from './content-screens.tsx';
import { stepAddress } from './frame.tsx';
import { groupForm } from './group.tsx';
import { newMailingScreen } from './new.tsx';
import { scheduleStep } from './schedule.tsx';
import { variantsScreen } from './variants.tsx';

/** Registers the pages for composing, which only those see who may change something. */
export async function composeScreens(app: FastifyInstance, { clock, db, config }: Deps): Promise<void> {
  app.addHook('onRequest', async (request) => requireEditor(request));
  app.route<{ Params: { utr: string } }>({
    method: READ,
    url: '/mailings/:utr/edit',
    handler: (request, reply) => reply.redirect(stepAddress(request.params.utr, 'audience')),
  });
  await newMailingScreen(app);
  await audienceStep(app);
  await groupForm(app);
  await contentStep(app);
  await templatesScreen(app, MAILING);
  await htmlScreen(app, MAILING);
  await designScreen(app, MAILING);
  await variantsScreen(app);
  await checkStep(app, MAILING, { db, config });
  await scheduleStep(app, { clock });
}
