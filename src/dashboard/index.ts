/** The table of contents of the dashboard: one plugin for each screen. */
import type { FastifyInstance } from 'fastify';
import { leftScreens } from '../audience/unsubscribed/screens/lists.tsx';
import type { Deps } from '../deps.ts';
import { staticFiles } from '../http/static-files.ts';
import { SignIns } from '../users/sign-in.ts';
import { watchHold } from './hold.tsx';
import { prefetchRules } from './prefetch.ts';
import { automationScreens } from './screens/automations/automations.tsx';
import { composeScreens } from './screens/compose/compose.ts';
import { feedScreens } from './screens/feeds/feeds.tsx';
import { formScreens } from './screens/forms/forms.tsx';
import { homeScreen } from './screens/home/home.tsx';
import { listScreens } from './screens/lists/lists.ts';
import { mailingScreens } from './screens/mailings/mailings.tsx';
import { outboxScreens } from './screens/outbox/outbox.tsx';
import { peopleActions } from './screens/people/actions.tsx';
import { peopleExport } from './screens/people/export.tsx';
import { importScreen } from './screens/people/import/import.tsx';
import { migrateScreen } from './screens/people/import/migrate.tsx';
import { peopleScreen } from './screens/people/people.tsx';
import { personScreen } from './screens/people/person.tsx';
import { recentScreen } from './screens/people/recent.tsx';
import { pictureScreens } from './screens/pictures/pictures.tsx';
import { segmentScreens } from './screens/segments/segments.tsx';
import { settingsScreens } from './screens/settings/settings.tsx';
import { templateScreens } from './screens/templates/templates.tsx';
import { transactionalScreens } from './screens/transactional/list.tsx';
import { versionScreens } from './screens/versions/versions.tsx';
import { loginPages } from './sign-in/login.tsx';
import { welcomePages } from './sign-in/welcome.tsx';
import { guardPages, requireSignIn } from './signed-in.ts';

/** Registers the pages for signing in and those behind it. */
export async function dashboard(app: FastifyInstance, deps: Deps): Promise<void> {
  guardPages(app);
  app.decorateRequest('hold', null);
  const signing = { ...deps, signIns: new SignIns(deps) };
  await app.register(staticFiles);
  await app.register(prefetchRules);
  await app.register(loginPages, signing);
  await app.register(welcomePages, signing);
  await app.register(async (screens) => {
    requireSignIn(screens);
    watchHold(screens);
    await screens.register(homeScreen, deps);
    await screens.register(mailingScreens, deps);
    await screens.register(transactionalScreens, deps);
    await screens.register(composeScreens, deps);
    await screens.register(automationScreens, deps);
    await screens.register(feedScreens, deps);
    await screens.register(leftScreens, deps);
    await screens.register(outboxScreens, deps);
    await screens.register(importScreen);
    await screens.register(migrateScreen);
    await screens.register(peopleActions);
    await screens.register(peopleScreen);
    await screens.register(peopleExport);
    await screens.register(personScreen);
    await screens.register(recentScreen);
    await screens.register(segmentScreens);
    await screens.register(formScreens);
    await screens.register(listScreens);
    await screens.register(templateScreens);
    await screens.register(versionScreens);
    await screens.register(pictureScreens);
    await screens.register(settingsScreens, signing);
  });
}
