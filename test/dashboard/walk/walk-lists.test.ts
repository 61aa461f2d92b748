/** A walk through the pictures, those who left, and the outbox. */
import t from 'tap';
import { skipWithout } from '../../support/tools.ts';
import { WALKS } from './screens.ts';
import { walkScreens } from './walk-screens.ts';

t.test('the pictures, those who left, and the outbox in the browser', { skip: skipWithout('chromium') }, (t) =>
  walkScreens(t, WALKS.lists),
);
