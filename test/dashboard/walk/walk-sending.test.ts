/** A walk through the settings of sending. */
import t from 'tap';
import { skipWithout } from '../../support/tools.ts';
import { WALKS } from './screens.ts';
import { walk } from './walk.ts';

t.test('the settings of sending in the browser', { skip: skipWithout('chromium') }, (t) => walk(t, WALKS.sending));
