/** The list of screens that the walk opens and the pictures show has every page of the dashboard. */
import { subscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import t from 'tap';
import { startApp } from '../../support/app.ts';
import { SCREENS } from './screens.ts';

/** What is not a page of the dashboard: what recipients and programs ask for, and files. */
const NO_PAGES =
  /^\/(api|archive|u|o|c|w|f|verify|design|docs|assets|images|healthz|readyz|metrics|prefetch-rules\.json)(\/|$)/;
/** Answers that are no screens of their own. */
const NO_SCREENS = new Map([
  ['/contacts/:id/export', 'a file to save'],
  ['/contacts/export', 'a file to save'],
  ['/contacts/found', 'a part of its screen'],
  ['/contacts/count', 'a part of its screen'],
  ['/settings/senders/cities', 'a part of its screen'],
  ['/pictures/:public_id/:name', 'a picture in a mail'],
  ['/contacts/import/:id/errors', 'a file to save'],
  ['/campaigns/:utr/recipients.csv', 'a file to save'],
  ['/campaigns/:utr/edit/html/code', 'a file to save'],
  ['/automations/:automation/mails/:utr/html/code', 'a file to save'],
  ['/campaigns/:utr/preview/mail', 'a frame within its screen'],
  ['/campaigns/:utr/edit', 'leads to the first step'],
  ['/campaigns/:utr/edit/mail', 'a frame within its screen'],
  ['/campaigns/:utr/edit/design', 'a frame around the designer, which has tests of its own'],
  ['/automations/:automation/mails/:utr/mail', 'a frame within its screen'],
  ['/automations/:automation/mails/:utr/design', 'a frame around the designer, which has tests of its own'],
  ['/campaigns/:utr/links/mail', 'a frame within its screen'],
  ['/templates/:id/mail', 'a frame within its screen'],
  ['/templates/:id/design', 'a frame around the designer, which has tests of its own'],
  ['/versions/:utr/:id/mail', 'a frame within its screen'],
  ['/settings/backup/file', 'a file to save'],
  ['/outbox/:id/html', 'a frame within its screen'],
  ['/deliveries/:id/html', 'a frame within its screen'],
  ['/deliveries/:id/mail.eml', 'a file to save'],
  ['/transactional/:utr/sent/html', 'a frame within its screen'],
  ['/transactional/:utr/sent/mail.eml', 'a file to save'],
  ['/feeds/:id/mail', 'a frame within its screen'],
  ['/automations/:automation/steps/:utr/remove', 'the page of a mail to remove, for another kind of step'],
  ['/find/options', 'the options of the command menu'],
  ['/campaigns/:utr/sketch.svg', 'a picture within the list of campaigns'],
]);

t.test('every page of the dashboard is among the screens that the walk opens', async (t) => {
  const routes = new Set<string>();
  subscribe('fastify.initialization', (message) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onRoute', ({ method, url }) => {
      if ([method].flat().includes('GET') && !NO_PAGES.test(url)) routes.add(url);
    });
  });
  const { fastify } = await startApp(t);
  await fastify.dashboard();
  t.ok(routes.has('/contacts/:id'), 'routes are seen');
  const shown = new Set(SCREENS.map(({ path }) => routeOf([...routes], path.replace(/\?.*/, ''))));
  t.strictSame(
    [...routes].filter((route) => !shown.has(route) && !NO_SCREENS.has(route)),
    [],
  );
  t.strictSame(
    [...NO_SCREENS.keys()].filter((route) => !routes.has(route)),
    [],
  );
});

/** The route that answers a path: the one with the fewest parameters. */
function routeOf(routes: readonly string[], path: string): string | undefined {
  return routes
    .filter((route) => new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+')}$`).test(path))
    .sort((one, other) => one.split(':').length - other.split(':').length)[0];
}
