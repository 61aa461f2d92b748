/** A walk through drafts, templates, pictures, versions and transactional mail. */
import t from 'tap';
import { skipWithout } from '../../support/tools.ts';
import { WALKS } from './screens.ts';
import { walk } from './walk.ts';

t.test(
  'drafts, templates, pictures, versions and transactional mail in the browser',
  { skip: skipWithout('chromium') },
  (t) => walk(t, WALKS.content),
);
