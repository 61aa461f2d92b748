/** A walk through Home, campaigns, those who left, and the outbox. */
import t from 'tap';
import { skipWithout } from '../../support/tools.ts';
import { WALKS } from './screens.ts';
import { walk } from './walk.ts';

t.test('Home, campaigns, those who left, and the outbox in the browser', { skip: skipWithout('chromium') }, (t) =>
  walk(t, WALKS.campaigns),
);
