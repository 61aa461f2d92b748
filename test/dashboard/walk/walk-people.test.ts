/** A walk through people and automations. */
import t from 'tap';
import { skipWithout } from '../../support/tools.ts';
import { WALKS } from './screens.ts';
import { walkScreens } from './walk-screens.ts';

t.test('people and automations in the browser', { skip: skipWithout('chromium') }, (t) => walkScreens(t, WALKS.people));
