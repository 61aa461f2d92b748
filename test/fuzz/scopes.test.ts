/** What a key pair that only reads can do with the request that every operation is documented with: read. */
import t from 'tap';
import { addKeyPair } from '../../src/database/accounts.ts';
import { callerWith, startApp } from '../support/app.ts';
import { operationsOf, readDocument } from '../support/openapi-operations.ts';
import { Tables } from '../support/tables.ts';
import { GOOD, requestOf } from './requests.ts';
import { newAccount, SETTINGS } from './world.ts';

t.test('with the scope read every operation that answers changes nothing', async (t) => {
  const app = await startApp(t, SETTINGS);
  const account = await newAccount(app, 'Read');
  const accountId = app.db
    .prepare('SELECT user_id FROM api_keys WHERE public_key = ?')
    .pluck()
    .get(account.caller.headers.PublicKey) as number;
  const { publicKey, secretKey } = addKeyPair(app.drizzle, app.clock, accountId, { name: 'Reader', scopes: ['read'] });
  const caller = callerWith(app.fastify, '/api', { PublicKey: publicKey, SecretKey: secretKey });
  await caller.call('GET', '/contacts-type');
  const tables = new Tables(app.db);
  let answered = 0;
  for (const operation of operationsOf(await readDocument(app))) {
    const given = requestOf(
      operation,
      { ...GOOD, encoding: 0 },
      { ...account, caller, person: caller, operator: caller },
    );
    // It never ends.
    if (operation.path === '/api/live') continue;
    const { statusCode, payload } = await app.fastify.inject({
      ...given,
      headers: { ...given.headers, 'accept-encoding': 'identity' },
    });
    if (statusCode === 200) answered++;
    if (operation.method === 'DELETE') t.equal(statusCode, 403, operation.path);
    t.strictSame(tables.changed(), [], `${operation.method} ${operation.path}`);
    t.notMatch(payload, /\/design\/\w/, `${operation.path} gives no link by which a mail can be changed`);
    tables.rewind();
  }
  t.ok(answered > 90, `${answered} answered`);
});
