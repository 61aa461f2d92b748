/** What one account never learns of another, and what nobody learns from log and file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import t from 'tap';
import { systemClock } from '../src/clock.ts';
import { findAccount, firstKeys, firstKeysShown } from '../src/database/accounts.ts';
import { connect, migrateAndSeed } from '../src/database/open.ts';
import { tokenSecrets } from '../src/delivery/links/tokens.ts';
import { sendCampaign } from './campaign.ts';
import { type Operation, operationsOf, readDocument } from './fuzz/operations.ts';
import { GOOD, namesOf, requestOf } from './fuzz/requests.ts';
import { goodValue, newAccount, SETTINGS } from './fuzz/world.ts';
import { startApp } from './helper.ts';

const NOBODY = '00000000-0000-4000-8000-000000000000';

/** The same value of nobody's: of the form of the other account's, so that only what exists can tell them apart. */
function nobodys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(nobodys);
  if (typeof value === 'number') return 999_999_999;
  return String(value).includes('-') ? NOBODY : String(value).replace(/\d+$/, '999999999');
}

t.test('a record of another account is like none for every operation there is', async (t) => {
  const app = await startApp(t, SETTINGS);
  const own = await newAccount(app, 'Own');
  const other = await newAccount(app, 'Other');
  const writes = () => app.db.prepare('SELECT total_changes()').pluck().get();
  const ask = async (operation: Operation, at: number, value: unknown) => {
    const changes = [{ at, how: 'value' as const, value, key: '' }];
    return app.fastify.inject(requestOf(operation, { ...GOOD, encoding: 2, changes }, own));
  };
  for (const operation of operationsOf(await readDocument(app))) {
    for (const [at, name] of namesOf(operation).entries()) {
      const example = operation.parameters[at]?.example ?? operation.bodies[0]?.example[name];
      const mine = goodValue(operation, name, example, own.records);
      const theirs = goodValue(operation, name, example, other.records);
      if (String(theirs) === String(mine) || ['email', 'field_name'].includes(name)) continue;
      const values = Array.isArray(theirs) && Array.isArray(mine) ? [theirs, [...mine, ...theirs]] : [theirs];
      const unknown =
        Array.isArray(theirs) && Array.isArray(mine)
          ? [nobodys(theirs), [...mine, nobodys(theirs[0])]]
          : [nobodys(theirs)];
      for (const [index, value] of values.entries()) {
        const before = writes();
        const answer = await ask(operation, at, value);
        const missing = await ask(operation, at, unknown[index]);
        const title = `${operation.operationId} with ${name} ${JSON.stringify(value)}`;
        t.equal(answer.payload, missing.payload, title);
        t.equal(answer.statusCode, missing.statusCode, title);
        t.equal(writes(), before, `${title} writes nothing`);
        const isFilter = operation.method === 'GET' && !operation.parameters[at]?.required;
        t.ok(isFilter || answer.statusCode === 404 || answer.statusCode === 422, `${title} is refused`);
      }
    }
  }
});

t.test('no secret, key or token is in a log line, no key in the file', async (t) => {
  let log = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      log += chunk;
      done();
    },
  });
  const settings = {
    LOG_LEVEL: 'trace',
    PUBLIC_KEY: 'pk_canary-of-the-settings',
    SECRET_KEY: 'sk_canary-of-the-settings',
    RECALL_SECONDS: '0',
  };
  const app = await startApp(t, settings, undefined, stream);
  const { mails } = await sendCampaign(t, app);
  const secret = String(app.one.headers.SecretKey);
  const wrong = 'sk_canary-that-is-wrong';

  const links = Object.values(mails[0]?.paths ?? {});
  t.ok(links.length >= 3, 'the mail has links');
  const { design_url } = (await app.one.call('GET', '/single-send/report', { query: { utr: await firstUtr() } })).body
    .message.report;
  const design = new URL(design_url).pathname;
  const visit = async () => {
    for (const path of [...links, design, `${design}/content`, '/u/canary-token', '/nowhere/canary-token'])
      await app.page('GET', `${path}?SecretKey=${secret}`);
    await app.page('POST', links[0] ?? '', { form: { SecretKey: secret } });
    for (const headers of [
      app.one.headers,
      { ...app.one.headers, SecretKey: wrong },
      { PublicKey: 'pk_canary-of-the-settings', SecretKey: settings.SECRET_KEY },
    ]) {
      await app.anonymous.call('GET', `/contacts/list?SecretKey=${secret}`, { headers });
      await app.anonymous.call('GET', '/nothing/canary-token', { headers });
      await app.anonymous.call('POST', '/contacts/add', { headers, form: { email: secret, SecretKey: secret } });
      await app.anonymous.call('POST', '/contacts/bulk-delete', {
        headers,
        json: { strIds: ['1'], SecretKey: secret },
      });
      const part: [string, string] = ['email', secret];
      const file: [string, { filename: string; content: string }] = ['file', { filename: 'a.csv', content: secret }];
      for (const path of ['/contacts/add', '/contacts/upload-csv'])
        await app.anonymous.call('POST', path, { headers, multipart: [part, file] });
      await app.fastify.inject({
        method: 'POST',
        url: '/api/contacts/add',
        headers: { ...headers, 'content-type': 'application/json' },
        payload: `{"email": ${secret}`,
      });
    }
  };
  await visit();
  for (const table of ['contacts', 'unsubscribers', 'single_sends', 'api_keys']) {
    app.db.pragma('legacy_alter_table = ON');
    app.db.exec(`ALTER TABLE ${table} RENAME TO missing_${table}`);
    await visit();
    app.db.exec(`ALTER TABLE missing_${table} RENAME TO ${table}`);
  }
  t.match(log, /"level":50/, 'failures of our own were logged');
  t.match(log, /"level":10|"level":20|"level":30/, 'requests were logged');

  const tokens = [...links, design].map((path) => path.split('/')[2] ?? 'missing');
  const keys = [secret, wrong, settings.SECRET_KEY];
  for (const canary of [...keys, ...tokenSecrets(app.db), ...tokens, 'canary-token'])
    t.notOk(log.includes(canary), `${canary.slice(0, 12)}… is in no log line`);
  const file = [app.path, `${app.path}-wal`].map((path) => readFileSync(path).toString('latin1')).join('');
  for (const canary of keys) t.notOk(file.includes(canary), `${canary.slice(0, 12)}… is not in the file`);

  async function firstUtr(): Promise<string> {
    return (await app.one.call('GET', '/single-send/list')).body.message.singleSends[0].utr;
  }
});

t.test('the first keys are made again by each start until they have been shown', async (t) => {
  const db = connect(join(t.testdir({}), 'test.db'));
  t.teardown(() => db.$client.close());
  migrateAndSeed(db);
  const one = firstKeys(db, systemClock, false);
  const two = firstKeys(db, systemClock, false);
  t.ok(one && two && one.secretKey !== two.secretKey, 'a start that was killed before it showed them loses nothing');
  t.equal(two && findAccount(db, two, { publicKey: '', secretKey: '' }), 1);
  firstKeysShown(db);
  t.equal(firstKeys(db, systemClock, false), null);
});

t.test('with a pair in the settings, no first keys are made', async (t) => {
  const db = connect(join(t.testdir({}), 'test.db'));
  t.teardown(() => db.$client.close());
  migrateAndSeed(db);
  t.equal(firstKeys(db, systemClock, true), null);
  t.equal(db.$client.prepare('SELECT count(*) FROM accounts').pluck().get(), 1);
  t.equal(firstKeys(db, systemClock, false), null);
});
