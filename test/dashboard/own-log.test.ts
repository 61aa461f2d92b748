/** What a person does with their own sign-in on pages, and what the audit log then tells. */
import t from 'tap';
import { newTotpSecret, totpCode } from '../../src/users/totp.ts';
import { startApp } from '../support/app.ts';
import { addPerson, cookieOf, PASSWORD } from '../support/people.ts';
import { SoftPasskey } from '../support/soft-passkey.ts';

const NEW_PASSWORD = 'lark sings in the rain';
const ORIGIN = 'http://localhost:3000';

t.test('every step of a person with their own sign-in is in the log', async (t) => {
  const app = await startApp(t, { PUBLIC_URL: ORIGIN });
  const person = addPerson(app, 'viewer');
  const cookies: Record<string, string> = {};
  const post = async (path: string, form: Record<string, string> = {}) => {
    const headers = {
      host: 'localhost:3000',
      'sec-fetch-site': 'same-origin',
      cookie: Object.entries(cookies)
        .map((pair) => pair.join('='))
        .join('; '),
    };
    const answer = await app.page('POST', path, { form, headers });
    for (const set of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies[name] = value;
    }
    t.ok([200, 303].includes(answer.status), `${path} ${answer.status}`);
    return answer;
  };
  const login = (password: string) => post('/login', { email: 'viewer@example.org', password });
  const code = (secret: string) => totpCode(secret, Math.floor(app.clock.now().getTime() / 30_000));
  let seen = 0;
  const logged = () => {
    const rows = app.db.prepare<[], string>('SELECT action FROM audit_log ORDER BY id').pluck().all();
    const since = rows.slice(seen);
    seen = rows.length;
    return since;
  };
  logged();

  await login(PASSWORD);
  t.strictSame(logged(), ['signed_in']);
  await login(PASSWORD);
  t.strictSame(logged(), ['signed_in', 'signed_out'], 'the session that the browser had before has ended');
  await post('/settings/account', { name: 'Vera', language: 'de', colour_scheme: 'dark' });
  t.strictSame(logged(), ['settings_changed']);

  const device = new SoftPasskey(ORIGIN);
  const asked = await post('/settings/passkeys/new', { passkey: 'Phone', 'passkey-password': PASSWORD });
  const [, challenge = ''] = /&quot;challenge&quot;:&quot;([\w-]+)/.exec(asked.text) ?? [];
  await post('/settings/passkeys', { name: 'Phone', answer: device.register(challenge) });
  t.strictSame(logged(), ['passkey_added']);
  await post('/logout');
  t.strictSame(logged(), ['signed_out']);
  const { body } = await post('/login/passkey/request');
  const handle = Buffer.from(`user ${person.id}`).toString('base64url');
  await post('/login/passkey', { answer: device.signIn(body.challenge, handle) });
  t.strictSame(logged(), ['signed_in']);
  await post('/settings/passkeys/1/remove');
  t.strictSame(logged(), ['passkey_removed']);

  const secret = newTotpSecret();
  await post('/settings/second-factor', { secret, code: code(secret), confirmation: PASSWORD });
  t.strictSame(logged(), ['second_factor_on']);
  const renewed = await post('/settings/second-factor/codes', { confirmation: PASSWORD });
  t.strictSame(logged(), ['recovery_codes_made']);
  await post('/logout');
  const step = await login(PASSWORD);
  const [, pending = ''] = /name="pending" value="([^"]+)"/.exec(step.text) ?? [];
  const [recovery = ''] = /([a-z2-7]{4}-){3}[a-z2-7]{4}/.exec(renewed.text) ?? [];
  await post('/login/code', { pending, code: recovery });
  t.strictSame(logged(), ['signed_out', 'recovery_code_used', 'signed_in']);
  await post('/settings/second-factor/off', { confirmation: PASSWORD });
  t.strictSame(logged(), ['second_factor_off']);

  cookieOf(app, person);
  await post('/settings/account/password', { current: PASSWORD, password: NEW_PASSWORD });
  t.strictSame(logged(), ['password_changed', 'signed_in'], 'with a session in place of those that ended');
});
