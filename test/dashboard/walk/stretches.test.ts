/**
 * No screen works long without letting other requests take their turn, in an account with many contacts, deliveries and events. With
 * `npm run test:stretches` the time is measured in a large account.
 */
import t from 'tap';
import { growAccount } from '../../support/grown-account.ts';
import { MEASURED, MOST_ROWS, mostRowsInTurn, PEOPLE, tooLong } from '../../support/stretches.ts';
import { accountOf, SCREENS } from './screens.ts';
import { startWalked } from './walked-service.ts';

/**
 * What a user may ask of screens beside opening them. Only measured, because searches look and count for some
 * milliseconds, not for so many rows.
 */
const ASKED = [
  '/contacts?search=zoë',
  '/contacts?search=zq',
  '/contacts?search=e',
  '/contacts?order=email',
  '/contacts?mail_state=unsubscribed',
  '/contacts?mail_state=suppressed',
  '/contacts?mail_state=mailable',
  '/contacts?segment_id=1',
  '/contacts?field=city&operator=contains&value=nowhere',
  '/campaigns/:opened/recipients?search=grown4242',
  '/campaigns/:opened/recipients?state=delivered',
  '/campaigns/:opened/recipients?state=bounced',
];

t.test('no screen works long in one turn', { timeout: 0 }, async (t) => {
  const { app, addressOf, origin, cookies } = await startWalked(t, (name) => name);
  const pathOf = (path: string) => addressOf({ path }).slice(origin.length);
  const [, , utr = ''] = pathOf('/campaigns/:opened').split('/');
  await growAccount(app.db, { accountId: 1, utr }, PEOPLE);
  const paths = SCREENS.filter((screen) => accountOf(screen) === 'filled').map(({ path }) => pathOf(path));
  const headers = { cookie: cookies.filled };
  const requests = new Map(
    [...paths, ...(MEASURED > 0 ? ASKED.map(pathOf) : [])].map((path) => [
      path,
      async () => {
        const { status, text } = await app.page('GET', encodeURI(path), { headers });
        t.equal(status, 200, `${path}: ${text.slice(0, 200)}`);
      },
    ]),
  );
  t.ok(requests.size > 60, `${requests.size} requests`);
  if (MEASURED > 0) t.strictSame(await tooLong(requests), []);
  else
    for (const [name, request] of requests) {
      const rows = await mostRowsInTurn(request);
      t.ok(rows <= MOST_ROWS, `${name}: ${rows} rows`);
    }
});
