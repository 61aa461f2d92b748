/** A walk in German by keyboard through settings and signing in. */
import t from 'tap';
import { skipWithout } from '../../support/tools.ts';
import { WALKS } from './screens.ts';
import { walkInGerman } from './walk-german.ts';

t.test('settings and signing in in German by keyboard', { skip: skipWithout('chromium') }, (t) =>
  walkInGerman(t, WALKS.settings),
);
