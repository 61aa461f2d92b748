/** What nobody learns from the log and the database file: keys, tokens and secrets. */
import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import t from 'tap';
import { linkSecrets, rootSecrets } from '../src/delivery/links/secrets.ts';
import { startApp } from './support/app.ts';
import { sendCampaign } from './support/campaign.ts';
import { addPerson, callerOf, cookieOf } from './support/people.ts';
import { startSink } from './support/smtp/scripted-relay.ts';

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
  for (const canary of [...keys, ...rootSecrets(app.db), ...linkSecrets(app.db), ...tokens, 'canary-token'])
    t.notOk(log.includes(canary), `${canary.slice(0, 12)}… is in no log line`);
  const file = [app.path, `${app.path}-wal`].map((path) => readFileSync(path).toString('latin1')).join('');
  for (const canary of keys) t.notOk(file.includes(canary), `${canary.slice(0, 12)}… is not in the file`);

  async function firstUtr(): Promise<string> {
    return (await app.one.call('GET', '/single-send/list')).body.message.singleSends[0].utr;
  }
});

t.test('the password of a relay is in no log line, answer, page or error, and not in the file as it is', async (t) => {
  let log = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      log += chunk;
      done();
    },
  });
  const password = 'relay-canary-password';
  const app = await startApp(t, { LOG_LEVEL: 'trace' }, undefined, stream);
  const echoing = await startSink(t, { offers: ['AUTH PLAIN'], auth: ({ line }) => `535 ${line} ${password}\r\n` });
  const owner = addPerson(app);
  const operator = callerOf(app, owner);
  const headers = { cookie: cookieOf(app, owner), 'sec-fetch-site': 'same-origin' };
  const form = { name: 'Relay', host: '127.0.0.1', port: echoing.port, security: 'none', username: 'shop', password };
  let told = '';
  const visit = async () => {
    const answers = [
      await operator.call('POST', '/relays/save', { form }),
      await operator.call('POST', '/relays/save', { json: { ...form, port: 0, password: [password] } }),
      await operator.call('POST', '/relays/test', { form: { id: 1 } }),
      await operator.call('GET', '/relays'),
      await operator.call('GET', '/health'),
      await operator.call('GET', '/audit/list'),
      await app.page('POST', '/settings/sending/new', { headers, form: { ...form, host: '' } }),
      await app.page('POST', '/settings/sending/1', { headers, form: { ...form, port: 'x' } }),
      await app.page('POST', '/settings/sending/1/test', { headers, form: {} }),
      await app.page('GET', '/settings/sending', { headers }),
      await app.page('GET', '/settings/sending/1', { headers }),
    ];
    told += answers.map(({ text }) => text).join('');
  };
  await visit();
  app.db.pragma('legacy_alter_table = ON');
  app.db.exec('ALTER TABLE relays RENAME TO missing_relays');
  await visit();
  app.db.exec('ALTER TABLE missing_relays RENAME TO relays');
  t.match(told, '535 AUTH PLAIN … …', 'the relay repeats what it was told, and we do not');
  t.match(log, /"level":50/, 'failures of our own were logged');
  const file = [app.path, `${app.path}-wal`].map((path) => readFileSync(path).toString('latin1')).join('');
  const token = Buffer.from(`\0shop\0${password}`).toString('base64');
  for (const secret of [password, token, Buffer.from(password).toString('base64')])
    for (const [where, text] of Object.entries({ log, told, file })) t.notOk(text.includes(secret), where);
});
