/** The DKIM keys of sender domains: who makes, changes and deletes them, which signs, and that the private key stays in the file. */
import crypto, { createPublicKey } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { DkimKeys } from '../../src/delivery/mime/dkim.ts';
import { startApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { addPerson, callerOf } from '../support/people.ts';
import { verifySenders } from '../support/sender.ts';
import { startDns } from '../support/smtp/dns-server.ts';

const SENDER = {
  from_name: 'Lark',
  from_email: 'news@example.com',
  reply_to_email: 'reply@example.com',
  country_id: 1,
  company_address: 'Main Street 1',
  nickname: 'News',
};
const domain = 'example.com';

async function started(t: Test) {
  const app = await startApp(t);
  const operator = callerOf(app, addPerson(app));
  const addSender = async (caller = app.one, isVerified = true) => {
    await mustSucceed(t, caller)('/sender/save', SENDER);
    if (isVerified) verifySenders(app);
  };
  const keys = async (caller = app.one) => (await caller.call('GET', '/senders/checks')).body.message.domains[0].dkim;
  /** The selector by which mail of the domain is signed now. */
  const signs = () => {
    const field = new DkimKeys(app.db).findKey(domain)?.signer.sign(Buffer.from('From: a@b\r\n\r\nx\r\n'), new Date(0));
    return /\bs=(\w+);/.exec(field ?? '')?.[1] ?? null;
  };
  const publish = async (records: { name: string; value: string }[]) =>
    app.askDns(await startDns(t, Object.fromEntries(records.map(({ name, value }) => [name, [value]]))));
  return { app, operator, addSender, keys, signs, publish };
}

t.test(
  'an owner makes the first key of a domain with a verified sender, and mail is signed with it at once',
  async (t) => {
    const { app, addSender, keys, signs } = await started(t);
    const create = (name: string, caller = app.one) => caller.call('POST', '/dkim/create', { form: { domain: name } });
    t.match(await create(domain), { status: 422, body: { errors: { domain: [/Verify a sender/] } } });
    await addSender(app.one, false);
    t.equal((await create(domain)).status, 422, 'the address is not verified');
    verifySenders(app);
    for (const wrong of ['', 'localhost', 'example.org', 'a b', '<script>', 'x'.repeat(300)])
      t.equal((await create(wrong)).status, 422, wrong);
    t.equal((await create(domain, app.two)).status, 422, 'another account has no sender of it');
    t.equal((await create('Example.COM')).status, 200);
    const [key, ...others] = await keys();
    t.match(key, { name: /^s\d{14}\._domainkey\.example\.com$/, state: 'signing', is_published: null });
    t.strictSame(others, []);
    t.equal(key.name.split('.')[0], signs());
    const bytes = Buffer.from(/p=(.*)$/.exec(key.value)?.[1] ?? '', 'base64');
    const published = createPublicKey({ key: bytes, format: 'der', type: 'spki' });
    t.equal(published.asymmetricKeyDetails?.modulusLength, 2048);
    t.match(await create(domain), { status: 409, body: { errors: /signed already/ } });
    t.equal(app.db.prepare('SELECT count(*) FROM dkim_keys').pluck().get(), 1);
  },
);

t.test('the next key signs once its record was seen, and the one before it until then', async (t) => {
  const { app, operator, addSender, keys, signs, publish } = await started(t);
  await addSender();
  await app.one.call('POST', '/dkim/create', { form: { domain } });
  await publish(await keys());
  await app.one.call('POST', '/senders/checks/renew');
  t.match(await keys(), [{ state: 'signing', is_published: 1 }]);
  const first = signs();
  t.equal((await operator.call('POST', '/dkim/rotate', { form: { domain } })).status, 200);
  t.match(await operator.call('POST', '/dkim/rotate', { form: { domain } }), { status: 409 });
  const renew = (asked = domain) => app.one.call('POST', '/senders/checks/renew', { form: { domain: asked } });
  const { body } = await renew();
  t.match(body.message.domains[0].checks[1], { name: 'DKIM', state: 'warn', code: 'dkim_next' });
  t.match(body.message.domains[0].checks[3], { name: 'Alignment', state: 'ok' }, 'mail still passes');
  t.match(await keys(), [{ state: 'signing' }, { state: 'waiting', is_published: 0 }]);
  t.equal(signs(), first);
  const [, next] = await keys();
  await publish([{ ...next, value: 'v=DKIM1; p=AAAA' }]);
  await renew();
  t.equal(signs(), first, 'another key at its name is not it');
  await publish(await keys());
  await renew();
  t.match(await keys(), [{ state: 'former' }, { state: 'signing', is_published: 1 }]);
  t.equal(`${signs()}._domainkey.${domain}`, next.name);
  t.equal((await renew('example.org')).status, 404);
  await publish([next]);
  t.match(
    (await renew()).body.message.domains[0].checks[1],
    { state: 'ok' },
    'nobody needs the record of a former key',
  );
});

t.test('where the key that signs is deleted another one signs, also one that waits for its record', async (t) => {
  const { app, operator, addSender, keys, signs } = await started(t);
  await addSender();
  await app.one.call('POST', '/dkim/create', { form: { domain } });
  await operator.call('POST', '/dkim/rotate', { form: { domain } });
  const [first, second] = await keys();
  const remove = (id: unknown) => operator.call('DELETE', '/dkim/delete', { query: { id: String(id) } });
  t.equal((await remove(first.id)).status, 200);
  t.equal(`${signs()}._domainkey.${domain}`, second.name);
  t.match(await keys(), [{ state: 'signing' }]);
  t.equal((await remove(second.id)).status, 200);
  t.equal(signs(), null);
  t.equal((await remove(second.id)).status, 404);
  t.equal((await remove('x')).status, 404);
});

t.test('only operators change and delete keys, and none of their private parts leaves the file', async (t) => {
  const { app, operator, addSender } = await started(t);
  await addSender();
  await addSender(app.two);
  const made = await app.one.call('POST', '/dkim/create', { form: { domain } });
  const guest = callerOf(app, addPerson(app, 'owner', { name: 'Guest', accountId: 2 }));
  const editor = callerOf(app, addPerson(app, 'editor'));
  for (const [who, caller] of Object.entries({ guest, editor, keys: app.one })) {
    t.equal((await caller.call('POST', '/dkim/rotate', { form: { domain } })).status, 403, who);
    t.equal((await caller.call('DELETE', '/dkim/delete', { query: { id: '1' } })).status, 403, who);
  }
  t.equal((await editor.call('POST', '/dkim/create', { form: { domain } })).status, 403);
  t.equal((await app.two.call('POST', '/dkim/create', { form: { domain } })).status, 409, 'accounts share it');
  t.match((await app.two.call('GET', '/senders/checks')).body.message.domains, [{ dkim: [{ state: 'signing' }] }]);
  t.equal((await operator.call('POST', '/dkim/rotate', { form: { domain } })).status, 200);
  const said = [made.text, (await app.one.call('GET', '/senders/checks')).text];
  const secret = /MII[\w+/]{40}/.exec(String(app.db.prepare('SELECT private_key FROM dkim_keys').pluck().get()))?.[0];
  t.ok(secret);
  for (const text of said) t.notMatch(text, secret ?? '');
  t.strictSame(app.db.prepare("SELECT action, account_id FROM audit_log WHERE action LIKE 'dkim%'").raw().all(), [
    ['dkim_key_made', app.db.prepare('SELECT user_id FROM senders LIMIT 1').pluck().get()],
    ['dkim_key_made', 1],
  ]);
});

t.test('however often a key is asked for at once, one is made', async (t) => {
  const { app, addSender } = await started(t);
  await addSender();
  const { generateKeyPair } = crypto;
  const make = promisify(generateKeyPair);
  let made = 0;
  const counting = Object.assign(() => undefined, {
    [promisify.custom]: () => {
      made++;
      return make('rsa', { modulusLength: 2048 });
    },
  });
  Object.assign(crypto, { generateKeyPair: counting });
  syncBuiltinESMExports();
  t.teardown(() => {
    Object.assign(crypto, { generateKeyPair });
    syncBuiltinESMExports();
  });
  const ask = () => app.one.call('POST', '/dkim/create', { form: { domain } });
  const answers = await Promise.all(Array.from({ length: 10 }, ask));
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(409)]);
  t.equal(made, 1);
});
