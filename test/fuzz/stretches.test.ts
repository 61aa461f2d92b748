/**
 * No GET of the API works long without letting other requests take their turn, in an account with many contacts, deliveries and events.
 * With `npm run test:stretches` the time is measured in a large account.
 */
import t from 'tap';
import { startApp } from '../support/app.ts';
import { growAccount } from '../support/grown-account.ts';
import { operationsOf, readDocument } from '../support/openapi-operations.ts';
import { MEASURED, MOST_ROWS, mostRowsInTurn, PEOPLE, tooLong } from '../support/stretches.ts';
import { GOOD, requestOf } from './requests.ts';
import { newAccount, SETTINGS } from './world.ts';

/** The contract's GETs that change something. */
const CHANGING = /duplicate|set-live|pause/;
/** Searches of every kind: of nobody, of one, of many, of everybody, and texts with less than three characters. */
const SEARCHES = ['zzqqxx', 'grown4242@', 'zoë', 'grown', 'e', 'zq', 'ü', 'com', 'zoë müller', 'ller 42'];

t.test('no GET of the API works long in one turn', { timeout: 0 }, async (t) => {
  const app = await startApp(t, SETTINGS);
  const account = await newAccount(app, 'Large');
  const [utr = ''] = account.records.completed ?? [];
  const accountId = Number(app.db.prepare('SELECT user_id FROM single_sends WHERE utr = ?').pluck().get(utr));
  await growAccount(app.db, { accountId, utr }, PEOPLE);
  const requests = new Map<string, () => Promise<unknown>>();
  const ask = (url: string, headers = account.caller.headers) =>
    requests.set(url, async () => {
      // As a stream, because putting a long answer together is no work of the service.
      const answer = await app.fastify.inject({ method: 'GET', url, headers, payloadAsStream: true });
      for await (const _ of answer.stream());
      if (answer.statusCode !== 422) t.equal(answer.statusCode, 200, url);
    });
  for (const operation of operationsOf(await readDocument(app))) {
    if (operation.method !== 'GET' || CHANGING.test(operation.path)) continue;
    const { url, headers } = requestOf(operation, { ...GOOD, encoding: 0 }, account);
    ask(operation.path.includes('/single-send/') ? url.replace(/(?<=utr=)[^&]*/, utr) : url, headers);
  }
  for (const search of SEARCHES)
    for (const path of MEASURED > 0 ? ['list', 'search'] : ['list'])
      ask(`/api/contacts/${path}?search=${encodeURIComponent(search)}&limit=50`);
  t.ok(requests.size > 100, `${requests.size} requests`);
  if (MEASURED > 0) t.strictSame(await tooLong(requests), []);
  else
    for (const [name, request] of requests) {
      const rows = await mostRowsInTurn(request);
      t.ok(rows <= MOST_ROWS, `${name}: ${rows} rows`);
    }
});
