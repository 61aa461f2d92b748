/** Signing in by ways that somebody forged: headers of a proxy, and hosts that only look like this machine. */
import t, { type Test } from 'tap';
import { startApp } from '../support/app.ts';
import { addPerson, cookieOf, PASSWORD } from '../support/people.ts';

async function withOwner(t: Test, settings: Record<string, string> = {}) {
  const app = await startApp(t, settings);
  const person = addPerson(app);
  const login = (password: string, headers: Record<string, string>) =>
    app.page('POST', '/login', {
      form: { email: 'owner@example.org', password },
      headers: { 'sec-fetch-site': 'same-origin', ...headers },
    });
  return { app, person, login };
}

t.test(
  'whoever sends headers of a proxy that is not trusted is counted by their own address and stays on plain http',
  async (t) => {
    const forged = (at: number) => ({
      'x-forwarded-for': `198.51.100.${at}`,
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'mail.example.com',
    });
    for (const settings of [{}, { TRUST_PROXY: '192.0.2.1' }]) {
      const { app, login } = await withOwner(t, settings);
      for (let at = 0; at < 5; at++) t.equal((await login(`guess number ${at}`, forged(at))).status, 401);
      t.equal((await login(PASSWORD, forged(9))).status, 429, 'another address each time does not help');
      app.clock.advance(1000);
      const { headers } = await login(PASSWORD, forged(9));
      t.match(headers['set-cookie'], /^sendlark=/, 'no header makes the connection encrypted');
      t.equal(app.db.prepare("SELECT address FROM audit_log WHERE action = 'signed_in'").pluck().get(), '127.0.0.1');
      const far = await login(PASSWORD, { ...forged(9), host: 'mail.example.com' });
      t.equal(far.status, 403);
    }
  },
);

t.test('behind a trusted proxy only the address that it saw counts, not what the browser wrote before', async (t) => {
  const { app, login } = await withOwner(t, { TRUST_PROXY: '127.0.0.1' });
  const from = (at: number) => ({ 'x-forwarded-for': `10.0.0.${at}, 203.0.113.5`, host: 'localhost' });
  for (let at = 0; at < 5; at++) await login(`guess number ${at}`, from(at));
  t.equal((await login(PASSWORD, from(9))).status, 429);
  t.strictSame(app.db.prepare('SELECT DISTINCT address FROM audit_log WHERE user_id IS NOT NULL').pluck().all(), [
    '203.0.113.5',
  ]);
});

t.test('without a host of ours nobody reads or sets a cookie by the name that is for this machine', async (t) => {
  const { app, person, login } = await withOwner(t);
  const cookie = cookieOf(app, person);
  for (const host of [
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example:3000',
    '0.0.0.0',
    '127.0.0.1@evil.example',
  ]) {
    t.equal((await app.page('GET', '/contacts', { headers: { cookie, host } })).status, 303, host);
    t.equal((await login(PASSWORD, { host })).status, 403, host);
  }
});
