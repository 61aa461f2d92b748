/** A walk through the settings, signing in and the components. */
import t from 'tap';
import { skipWithout } from '../../support/tools.ts';
import { WALKS } from './screens.ts';
import { walk } from './walk.ts';

t.test('the settings, signing in and the components in the browser', { skip: skipWithout('chromium') }, (t) =>
  walk(t, WALKS.settings),
);
