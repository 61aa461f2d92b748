/** Codes of authenticator apps and recovery codes: right ones work, once. */
import t from 'tap';
import {
  renewRecoveryCodes,
  switchOffSecondFactor,
  switchOnSecondFactor,
  useCode,
} from '../../src/users/second-factor.ts';
import { base32, isTotpSecret, matchTotp, newTotpSecret, totpCode, totpUrl } from '../../src/users/totp.ts';
import { findUser } from '../../src/users/users.ts';
import { startApp } from '../support/app.ts';
import { addPerson } from '../support/people.ts';

const STEP = 30_000;

t.test('the codes are those of RFC 6238, appendix B', async (t) => {
  const secret = base32(Buffer.from('12345678901234567890'));
  for (const [seconds, code] of [
    [59, '287082'],
    [1111111109, '081804'],
    [1111111111, '050471'],
    [1234567890, '005924'],
    [2000000000, '279037'],
    [20000000000, '353130'],
  ] as const)
    t.equal(totpCode(secret, Math.floor(seconds / 30)), code);
});

t.test('a secret has 160 bits and its address holds what apps need', async (t) => {
  const secret = newTotpSecret();
  t.ok(isTotpSecret(secret), secret);
  t.not(newTotpSecret(), secret);
  const url = new URL(totpUrl(secret, 'zoë+x@example.org', 'mail.example.com'));
  t.equal(url.protocol, 'otpauth:');
  t.equal(url.searchParams.get('secret'), secret);
  t.equal(url.searchParams.get('issuer'), 'mail.example.com');
  t.equal(decodeURIComponent(url.pathname), '/mail.example.com:zoë+x@example.org');
});

t.test('a code works one step before and after its time, and nothing else is accepted', async (t) => {
  const secret = newTotpSecret();
  const now = new Date(1_800_000_015_000);
  const step = Math.floor(now.getTime() / STEP);
  for (const near of [step - 1, step, step + 1]) t.equal(matchTotp(secret, totpCode(secret, near), 0, now), near);
  for (const far of [step - 2, step + 2]) t.equal(matchTotp(secret, totpCode(secret, far), 0, now), null);
  for (const text of ['', '12345', '1234567', 'abcdef', '１２３４５６']) t.equal(matchTotp(secret, text, 0, now), null);
  t.equal(
    matchTotp(secret, totpCode(secret, step).replace(/^.../, '$& '), 0, now),
    step,
    'with a space as apps show it',
  );
  t.equal(matchTotp(secret, totpCode(secret, step), step, now), null, 'a used one');
});

t.test('no code works twice, neither of the app nor a recovery code', async (t) => {
  const app = await startApp(t);
  const { id } = addPerson(app);
  const read = () => findUser(app.drizzle, 1, id)!;
  const actor = { userId: id, name: 'owner', address: '' };
  const secret = newTotpSecret();
  const code = () => totpCode(secret, Math.floor(app.clock.now().getTime() / STEP));
  t.equal(switchOnSecondFactor(app.drizzle, read(), secret, '000000x', actor, app.clock.now()), null);
  t.equal(read().totp_secret, null, 'a wrong code switches nothing on');
  const codes = switchOnSecondFactor(app.drizzle, read(), secret, code(), actor, app.clock.now());
  t.equal(codes?.length, 10);
  const use = (given: string) => useCode(app.drizzle, read(), given, actor, app.clock.now());
  t.equal(use(code()), false, 'the one by which it was switched on');
  app.clock.advance(STEP);
  t.equal(use(code()), true);
  t.equal(use(code()), false);
  const [first = '', second = ''] = codes ?? [];
  t.match(first, /^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
  t.notOk(app.db.serialize().includes(first), 'stored as a hash');
  t.equal(use(` ${first.toUpperCase().replaceAll('-', ' ')} `), true, 'as a person types it');
  t.equal(use(first), false);
  const renewed = renewRecoveryCodes(app.drizzle, read(), actor, app.clock.now());
  t.equal(use(second), false, 'new codes end the earlier ones');
  t.equal(use(renewed[0] ?? ''), true);
  switchOffSecondFactor(app.drizzle, read(), actor, app.clock.now());
  t.equal(use(renewed[1] ?? ''), false);
  t.equal(read().totp_secret, null);
});
