/**
 * The table of contents of the dashboard: the screens of all features. Screens with hooks or body parsers of their own are registered as
 * plugins, so that their hooks and parsers do not affect other screens.
 */
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { peopleActions } from '../audience/bulk/screens/actions.tsx';
import { typeScreens } from '../audience/contact-types/screens/types.tsx';
import { peopleScreen } from '../audience/contacts/screens/list.tsx';
import { recentScreen } from '../audience/contacts/screens/recent.tsx';
import { fieldScreens } from '../audience/fields/screens/fields.tsx';
import { importScreens } from '../audience/import/screens/import.tsx';
import { editPersonScreens } from '../audience/person/screens/edit.tsx';
import { personScreen } from '../audience/person/screens/person.tsx';
import { segmentScreens } from '../audience/segments/screens/segments.tsx';
import { unsubscribeScreens } from '../audience/unsubscribed/screens/lists.tsx';
import { automationScreens } from '../automations/screens/automations.tsx';
import { finderScreen } from '../campaigns/finder/screens/finder.tsx';
import { homeScreen } from '../campaigns/home/screens/home.tsx';
import { campaignScreens } from '../campaigns/screens/campaigns.ts';
import { composeScreens } from '../campaigns/screens/compose/compose.tsx';
import { sentMailScreens } from '../campaigns/sent-mails/screens/sent-mail.tsx';
import { feedScreens } from '../feeds/screens/feeds.tsx';
import { formScreens } from '../forms/screens/forms.tsx';
import { staticFiles } from '../http/static-files.ts';
import { holdScreens } from '../installation/screens/health.tsx';
import type { Deps } from '../operations/deps.ts';
import { outboxScreens } from '../senders/outbox/screens/outbox.tsx';
import { pictureScreens } from '../templates/pictures/screens/pictures.tsx';
import { templateScreens } from '../templates/screens/templates.tsx';
import { versionScreens } from '../templates/versions/screens/versions.tsx';
import { transactionalScreens } from '../transactional/screens/mails.tsx';
import { loginPages } from '../users/screens/sign-in/login.tsx';
import { welcomePages } from '../users/screens/sign-in/welcome.tsx';
import { SignIns } from '../users/sign-in.ts';
import { prefetchRules } from './prefetch.ts';
import { settingsScreens } from './settings/settings.tsx';
import { guardPages, limitPages, requireSignIn } from './signed-in.ts';

/** The screens that need a session. */
const SCREENS: readonly ((screens: FastifyInstance, deps: SigningDeps) => unknown)[] = [
  holdScreens,
  homeScreen,
  finderScreen,
  campaignScreens,
  sentMailScreens,
  transactionalScreens,
  (screens, deps) => screens.register(composeScreens, deps),
  automationScreens,
  feedScreens,
  unsubscribeScreens,
  outboxScreens,
  (screens) => screens.register(importScreens),
  peopleActions,
  peopleScreen,
  personScreen,
  editPersonScreens,
  recentScreen,
  segmentScreens,
  formScreens,
  typeScreens,
  fieldScreens,
  templateScreens,
  (screens) => screens.register(versionScreens),
  (screens) => screens.register(pictureScreens),
  settingsScreens,
];

type SigningDeps = Deps & { signIns: SignIns };

/** Registers all pages of the dashboard: those for signing in, and those that need a session. */
export async function dashboard(app: FastifyInstance, deps: Deps): Promise<void> {
  guardPages(app);
  const signing = { ...deps, signIns: new SignIns(deps) };
  await app.register(staticFiles);
  await prefetchRules(app);
  await loginPages(app, signing);
  await welcomePages(app, signing);
  await app.register(async (screens) => {
    requireSignIn(screens);
    limitPages(screens);
    for (const register of SCREENS) {
      await register(screens, signing);
      // The service answers requests meanwhile.
      await setImmediate();
    }
  });
}
