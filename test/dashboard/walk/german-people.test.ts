/** A walk in German by keyboard through people and automations. */
import t from 'tap';
import { skipWithout } from '../../support/tools.ts';
import { WALKS } from './screens.ts';
import { walkInGerman } from './walk-german.ts';

t.test('people and automations in German by keyboard', { skip: skipWithout('chromium') }, (t) =>
  walkInGerman(t, WALKS.people),
);
