/** A walk in German by keyboard through those who left, and the outbox. */
import t from 'tap';
import { skipWithout } from '../../support/tools.ts';
import { WALKS } from './screens.ts';
import { walkInGerman } from './walk-german.ts';

t.test('those who left, and the outbox in German by keyboard', { skip: skipWithout('chromium') }, (t) =>
  walkInGerman(t, WALKS.lists),
);
