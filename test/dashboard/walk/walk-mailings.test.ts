/** A walk through Home and mailings. */
import t from 'tap';
import { skipWithout } from '../../support/tools.ts';
import { WALKS } from './screens.ts';
import { walk } from './walk.ts';

t.test('Home and mailings in the browser', { skip: skipWithout('chromium') }, (t) => walk(t, WALKS.mailings));
