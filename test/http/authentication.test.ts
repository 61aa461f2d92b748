/** Keys: checked before anything else, and kept as hashes. */
import t from 'tap';
import { startApp } from '../support/app.ts';

t.test('a key failure comes before any field error', async (t) => {
  const app = await startApp(t);
  const { status, body } = await app.anonymous.call('POST', '/contacts/add', { form: { contact_type_id: 'x' } });
  t.equal(status, 401);
  t.strictSame(body.errors, {
    PublicKey: ['The public key field is required.'],
    SecretKey: ['The secret key field is required.'],
  });
  const half = await app.anonymous.call('GET', '/contacts-type', { headers: { PublicKey: 'pk' } });
  t.strictSame(half.body.errors, { SecretKey: ['The secret key field is required.'] });
});

t.test('a wrong pair is answered the same whatever is wrong with it', async (t) => {
  const app = await startApp(t);
  const { PublicKey = '', SecretKey = '' } = app.one.headers;
  const pairs = [
    { PublicKey: 'pk_none', SecretKey },
    { PublicKey, SecretKey: 'sk_none' },
    { PublicKey, SecretKey: app.two.headers.SecretKey ?? '' },
  ];
  for (const headers of pairs) {
    const answer = await app.anonymous.call('GET', '/contacts-type', { headers });
    t.equal(answer.status, 401);
    t.equal(answer.text, '{"status":"failed","errors":"Invalid public key or secret key"}\n');
  }
});

t.test('the pair of the settings is account 1', async (t) => {
  const app = await startApp(t, { PUBLIC_KEY: 'pk_own_of_settings', SECRET_KEY: 'sk_own_of_settings' });
  const headers = { PublicKey: 'pk_own_of_settings', SecretKey: 'sk_own_of_settings' };
  const answer = await app.anonymous.call('POST', '/contacts-type/add', { form: { name: 'Mine' }, headers });
  t.equal(answer.status, 200);
  t.match(app.db.prepare('SELECT user_id FROM contact_types').get(), { user_id: 1 });
});

t.test('only a hash of a secret is stored', async (t) => {
  const app = await startApp(t);
  const secret = app.one.headers.SecretKey ?? 'missing';
  t.notOk(app.db.serialize().includes(secret));
});
