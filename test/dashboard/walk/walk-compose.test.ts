/** A walk through composing a mailing. */
import t from 'tap';
import { skipWithout } from '../../support/tools.ts';
import { WALKS } from './screens.ts';
import { walk } from './walk.ts';

t.test('composing in the browser', { skip: skipWithout('chromium') }, (t) => walk(t, WALKS.compose));
