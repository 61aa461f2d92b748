/** Operators: who may look after the whole installation. */
import t from 'tap';
import type { Role } from '../../src/database/schema/index.ts';
import { startApp } from '../support/app.ts';
import { operationsOf, readDocument } from '../support/openapi-operations.ts';
import { addPerson, callerOf, cookieOf } from '../support/people.ts';

/** People who are no operators, by account and role. */
const OTHERS: readonly [number, Role][] = [
  [2, 'owner'],
  [1, 'editor'],
  [1, 'viewer'],
];

/** The operations that concern the whole installation. */
const FOR_OPERATORS = [
  'POST /health/public-address',
  'POST /health/returned-mail',
  'GET /backups',
  'GET /backups/download',
  'POST /backups/upload',
  'POST /backups/upload/drop',
  'POST /backups/restore',
  'POST /sending/release',
  'GET /nodes',
  'POST /dkim/rotate',
  'DELETE /dkim/delete',
  'GET /role-mails',
  'DELETE /role-mails/delete',
  'GET /public-address',
  'POST /public-address/save',
  'GET /relays',
  'POST /relays/save',
  'POST /relays/order',
  'POST /relays/delete',
  'POST /relays/test',
];

t.test('what concerns the whole installation takes an owner of the first account who is signed in', async (t) => {
  const app = await startApp(t);
  t.equal((await callerOf(app, addPerson(app)).call('GET', '/backups')).status, 200);
  const others = OTHERS.map(([accountId, role]) =>
    callerOf(app, addPerson(app, role, { name: `${role}${accountId}`, accountId })),
  );
  const operations = operationsOf(await readDocument(app)).filter(({ isForOperators }) => isForOperators);
  for (const { method, path, description } of operations) {
    t.match(description, /Only for an operator who is signed in\.$/, `${method} ${path}`);
    const inApi = path.slice('/api'.length);
    t.equal((await app.anonymous.call(method, inApi)).status, 401);
    const keys = await app.one.call(method, inApi);
    t.equal(keys.status, 403, `${method} ${path}: keys of the first account are not enough`);
    t.match(keys.body.errors, /owner of the first account/);
    for (const [at, other] of others.entries())
      t.equal((await other.call(method, inApi)).status, 403, `${method} ${path} for ${OTHERS[at]}`);
  }
  t.strictSame(
    operations.map(({ method, path }) => `${method} ${path.slice('/api'.length)}`),
    FOR_OPERATORS,
  );
});

t.test('others neither see the pages of the installation nor open them', async (t) => {
  const app = await startApp(t);
  const page = (path: string, cookie: string) => app.page('GET', path, { headers: { cookie } });
  const operator = cookieOf(app, addPerson(app));
  t.equal((await page('/settings/backup', operator)).status, 200);
  t.match((await page('/settings/account', operator)).text, 'href="/settings/backup"');
  for (const [accountId, role] of OTHERS) {
    const cookie = cookieOf(app, addPerson(app, role, { name: `${role}${accountId}`, accountId }));
    t.notMatch((await page('/settings/account', cookie)).text, 'href="/settings/backup"');
    const { status, text } = await page('/settings/backup', cookie);
    t.equal(status, 403, `${role} of account ${accountId}`);
    t.match(text, '<h1>Not allowed</h1>');
  }
});
