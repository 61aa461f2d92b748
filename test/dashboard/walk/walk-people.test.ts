/** A walk through people. */
import t from 'tap';
import { skipWithout } from '../../support/tools.ts';
import { WALKS } from './screens.ts';
import { walk } from './walk.ts';

t.test('people in the browser', { skip: skipWithout('chromium') }, (t) => walk(t, WALKS.people));
