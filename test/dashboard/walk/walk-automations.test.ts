/** A walk through automations and feeds. */
import t from 'tap';
import { skipWithout } from '../../support/tools.ts';
import { WALKS } from './screens.ts';
import { walk } from './walk.ts';

t.test('automations and feeds in the browser', { skip: skipWithout('chromium') }, (t) => walk(t, WALKS.automations));
