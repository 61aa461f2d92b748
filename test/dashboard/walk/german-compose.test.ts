/** A walk in German by keyboard through the making of a mailing. */
import t from 'tap';
import { skipWithout } from '../../support/tools.ts';
import { WALKS } from './screens.ts';
import { walkInGerman } from './walk-german.ts';

t.test('making a mailing in German by keyboard', { skip: skipWithout('chromium') }, (t) =>
  walkInGerman(t, WALKS.compose),
);
