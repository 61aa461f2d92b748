/** The pages for making and editing automations, which only those see who may change something. */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../../../deps.ts';
import { checkStep } from '../../../../single-sends/screens/compose/check.tsx';
import {
  designScreen,
  htmlScreen,
  templatesScreen,
} from '../../../../single-sends/screens/compose/content-screens.tsx';
import { requireEditor } from '../../../signed-in.ts';
import { addMailScreen } from './add-mail.tsx';
import { editScreen } from './edit.tsx';
import { AUTOMATION_MAIL } from './mail.tsx';
import { mailContentScreen } from './mail-content.tsx';
import { newAutomationScreen } from './new.tsx';
import { removeMailScreen } from './remove-mail.tsx';
import { stateActions } from './state.tsx';

export async function editScreens(
  app: FastifyInstance,
  { clock, db, config }: Pick<Deps, 'clock' | 'db' | 'config'>,
): Promise<void> {
  app.addHook('onRequest', async (request) => requireEditor(request));
  await newAutomationScreen(app);
  await editScreen(app, { clock });
  await addMailScreen(app);
  await mailContentScreen(app);
  await templatesScreen(app, AUTOMATION_MAIL);
  await htmlScreen(app, AUTOMATION_MAIL);
  await designScreen(app, AUTOMATION_MAIL);
  await checkStep(app, AUTOMATION_MAIL, { db, config });
  await removeMailScreen(app);
  await stateActions(app);
}
