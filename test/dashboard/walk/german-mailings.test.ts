/** A walk in German by keyboard through mailings. */
import t from 'tap';
import { skipWithout } from '../../support/tools.ts';
import { WALKS } from './screens.ts';
import { walkInGerman } from './walk-german.ts';

t.test('mailings in German by keyboard', { skip: skipWithout('chromium') }, (t) => walkInGerman(t, WALKS.mailings));
