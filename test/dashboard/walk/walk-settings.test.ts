/** A walk through settings, signing in and the components. */
import t from 'tap';
import { skipWithout } from '../../support/tools.ts';
import { WALKS } from './screens.ts';
import { walkScreens } from './walk-screens.ts';

t.test('settings, signing in and the components in the browser', { skip: skipWithout('chromium') }, (t) =>
  walkScreens(t, WALKS.settings),
);
