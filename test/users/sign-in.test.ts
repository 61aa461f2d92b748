/** Signing in and login links, below HTTP: what is answered, recorded and ended. */
import { scryptSync } from 'node:crypto';
import t, { type Test } from 'tap';
import { parseAddress } from '../../src/audience/contacts/addresses.ts';
import { auditFailedSignIn, COMMAND_LINE } from '../../src/users/audit.ts';
import { createLoginLink, findLoginLink, loginLinkPath, useLoginLink } from '../../src/users/login-links.ts';
import { isWeaklyHashed } from '../../src/users/passwords.ts';
import { switchOnSecondFactor } from '../../src/users/second-factor.ts';
import { findSession } from '../../src/users/sessions.ts';
import { SignIns } from '../../src/users/sign-in.ts';
import { newTotpSecret, totpCode } from '../../src/users/totp.ts';
import { changePassword, findUser } from '../../src/users/users.ts';
import { startApp } from '../support/app.ts';
import { cheapHash } from '../support/cheap-passwords.ts';
import { addPerson, PASSWORD } from '../support/people.ts';

const MINUTE = 60_000;
const at = (address: string) => ({ address, userAgent: 'Test' });
const HOME = at('192.0.2.1');

async function withPerson(t: Test) {
  const app = await startApp(t);
  const person = addPerson(app);
  const signIns = new SignIns({ db: app.drizzle, clock: app.clock, tokens: app.tokens });
  const read = () => findUser(app.drizzle, 1, person.id)!;
  return { app, person, signIns, read };
}

t.test('the right password makes a new session; a wrong one and an unknown person are answered alike', async (t) => {
  const { app, signIns } = await withPerson(t);
  const one = await signIns.withPassword(' OWNER@example.org ', PASSWORD, HOME);
  const two = await signIns.withPassword('owner@example.org', PASSWORD, HOME);
  if (one.outcome !== 'signed-in' || two.outcome !== 'signed-in') throw new Error(`${one.outcome} ${two.outcome}`);
  t.not(one.secret, two.secret, 'each sign-in has a session of its own');
  t.match(findSession(app.drizzle, one.secret, app.clock.now()), { user: { email: 'owner@example.org' } });
  t.notOk(app.db.serialize().includes(one.secret), 'the file holds a hash of its secret');
  for (const [email, password] of [
    ['owner@example.org', 'wrong horse battery'],
    ['nobody@example.org', PASSWORD],
    ['no address', PASSWORD],
    ['', ''],
  ] as const)
    t.strictSame(await signIns.withPassword(email, password, HOME), { outcome: 'refused' }, email);
});

t.test('a password is stored anew when the parameters were raised since', async (t) => {
  const { app, signIns, read } = await withPerson(t);
  const salt = Buffer.alloc(16, 1);
  const weak = scryptSync(PASSWORD, salt, 32, { N: 2 ** 10, r: 8, p: 1 }).toString('base64url');
  app.db.prepare('UPDATE users SET password_hash = ?').run(`scrypt$10$8$1$${salt.toString('base64url')}$${weak}`);
  t.equal((await signIns.withPassword('owner@example.org', 'wrong horse battery', HOME)).outcome, 'refused');
  t.ok(isWeaklyHashed(read().password_hash ?? ''), 'a wrong one stores nothing');
  const stored = app.db.prepare('SELECT password_hash FROM users').pluck().get();
  const running = signIns.withPassword('owner@example.org', PASSWORD, HOME);
  const other = cheapHash('of another password');
  app.db.prepare('UPDATE users SET password_hash = ?').run(other);
  t.equal((await running).outcome, 'refused');
  t.equal(read().password_hash, other, 'one that was chosen meanwhile stays');
  app.db.prepare('UPDATE users SET password_hash = ?').run(stored);
  const together = [1, 2].map(() => signIns.withPassword('owner@example.org', PASSWORD, HOME));
  const outcomes = (await Promise.all(together)).map(({ outcome }) => outcome);
  t.strictSame(outcomes, ['signed-in', 'signed-in'], 'two sign-ins at once');
  t.notOk(isWeaklyHashed(read().password_hash ?? ''));
  t.equal((await signIns.withPassword('owner@example.org', PASSWORD, HOME)).outcome, 'signed-in');
});

t.test('with a second factor the password alone makes no session, and its proof ends', async (t) => {
  const { app, signIns, read } = await withPerson(t);
  const secret = newTotpSecret();
  const code = () => totpCode(secret, Math.floor(app.clock.now().getTime() / 30_000));
  switchOnSecondFactor(app.drizzle, read(), secret, code(), COMMAND_LINE, app.clock.now());
  app.clock.advance(30_000);
  const first = await signIns.withPassword('owner@example.org', PASSWORD, HOME);
  if (first.outcome !== 'second-factor') throw new Error(first.outcome);
  t.equal(app.db.prepare('SELECT count(*) FROM sessions').pluck().get(), 0);
  t.strictSame(await signIns.withCode(first.pending, '000000', HOME), { outcome: 'refused' });
  t.strictSame(await signIns.withCode(`${first.pending}x`, code(), HOME), { outcome: 'refused' });
  t.equal((await signIns.withCode(first.pending, code(), HOME)).outcome, 'signed-in');
  t.equal((await signIns.withCode(first.pending, code(), HOME)).outcome, 'refused', 'a code works once');
  app.clock.advance(5 * MINUTE);
  t.equal((await signIns.withCode(first.pending, code(), HOME)).outcome, 'refused', 'five minutes are over');
  const again = await signIns.withPassword('owner@example.org', PASSWORD, HOME);
  if (again.outcome !== 'second-factor') throw new Error(again.outcome);
  app.db.prepare("UPDATE users SET password_hash = password_hash || 'x'").run();
  t.equal((await signIns.withCode(again.pending, code(), HOME)).outcome, 'refused', 'the password was changed');
});

t.test(
  'an old password is worth nothing once a login link has replaced it, even where it was being checked',
  async (t) => {
    const { app, signIns, read } = await withPerson(t);
    const passwordHash = 'scrypt$4$8$1$AA$AA';
    const before = read();
    const replaceDuring = async <T>(work: () => Promise<T>) => {
      app.db.prepare('UPDATE users SET password_hash = ?').run(before.password_hash);
      const { secret } = createLoginLink(app.drizzle, { accountId: 1, user: read() }, COMMAND_LINE, app.clock.now());
      const running = work();
      const choice = { address: parseAddress('owner@example.org')!, name: 'Owner', passwordHash };
      t.ok(useLoginLink(app.drizzle, secret, choice, '192.0.2.1', app.clock.now()));
      return running;
    };
    t.strictSame(await replaceDuring(() => signIns.withPassword('owner@example.org', PASSWORD, HOME)), {
      outcome: 'refused',
    });
    t.equal(app.db.prepare('SELECT count(*) FROM sessions').pluck().get(), 0);
    t.equal(await replaceDuring(() => signIns.confirmPassword(before, PASSWORD, HOME)), false);
    const change = () => changePassword(app.drizzle, before, 'lark sings in the rain', COMMAND_LINE, app.clock.now());
    t.equal(await replaceDuring(change), false);
    t.equal(read().password_hash, passwordHash);
  },
);

t.test('strangers who guess keep themselves waiting, not the owner at home', async (t) => {
  const { app, signIns } = await withPerson(t);
  await signIns.withPassword('owner@example.org', PASSWORD, HOME);
  for (let guess = 0; guess < 5; guess++)
    t.equal(
      (await signIns.withPassword('owner@example.org', `guess number ${guess}`, at('198.51.100.7'))).outcome,
      'refused',
    );
  const waits = { outcome: 'wait', seconds: 1 };
  t.strictSame(await signIns.withPassword('owner@example.org', PASSWORD, at('198.51.100.7')), waits);
  t.strictSame(await signIns.withPassword('nobody@example.org', PASSWORD, at('198.51.100.7')), waits);
  t.strictSame(await signIns.withPassword('owner@example.org', PASSWORD, at('203.0.113.1')), waits, 'a new place');
  t.equal((await signIns.withPassword('owner@example.org', PASSWORD, HOME)).outcome, 'signed-in');
  app.clock.advance(1000);
  t.equal((await signIns.withPassword('owner@example.org', PASSWORD, at('203.0.113.1'))).outcome, 'signed-in');
});

t.test('failed sign-ins are in the log without what was typed, and cannot fill the disk', async (t) => {
  const { app, person, signIns } = await withPerson(t);
  const failures = () =>
    app.db.prepare("SELECT user_id, actor, address, times FROM audit_log WHERE action = 'sign_in_failed'").all();
  await signIns.withPassword('owner@example.org', 'my other password', HOME);
  await signIns.withPassword('owner@example.org', 'my other password', HOME);
  await signIns.withPassword('my-secret-typed@wrong.field', PASSWORD, HOME);
  t.strictSame(failures(), [
    { user_id: person.id, actor: 'owner@example.org', address: HOME.address, times: 2 },
    { user_id: null, actor: '', address: HOME.address, times: 1 },
  ]);
  for (let at = 0; at < 1000; at++)
    auditFailedSignIn(app.drizzle, null, `10.0.${at >> 8}.${at & 255}`, app.clock.now());
  t.equal(failures().length, 100, 'an hour has at most a hundred rows');
  const times = app.db.prepare("SELECT sum(times) FROM audit_log WHERE action = 'sign_in_failed'").pluck().get();
  t.equal(times, 1003, 'all are counted');
  app.clock.advance(60 * MINUTE);
  auditFailedSignIn(app.drizzle, null, '10.0.0.1', app.clock.now());
  t.equal(failures().length, 101);
});

t.test('a login link makes the first owner, once, within 30 minutes, and only while there is none', async (t) => {
  const app = await startApp(t);
  const make = () => createLoginLink(app.drizzle, { accountId: 1, user: null }, COMMAND_LINE, app.clock.now()).secret;
  const address = parseAddress('ann@example.org')!;
  const choice = { address, name: 'Ann', passwordHash: 'scrypt$4$8$1$AA$AA' };
  const use = (secret: string) => useLoginLink(app.drizzle, secret, choice, '192.0.2.1', app.clock.now());
  const find = (secret: string) => findLoginLink(app.drizzle, secret, app.clock.now());
  const earlier = make();
  const secret = make();
  t.match(loginLinkPath(secret), /^\/welcome#[\w-]{43}$/, 'in the fragment, which reaches no server');
  t.equal(find(earlier), null, 'a new link ends the one before');
  t.equal(find(`${secret.slice(0, -1)}_`), null);
  app.clock.advance(30 * MINUTE - 1);
  t.match(find(secret), { accountId: 1, user: null });
  app.clock.advance(1);
  t.equal(use(secret), null, 'too late');
  const next = make();
  t.match(use(next), { email: 'ann@example.org', name: 'Ann', role: 'owner', account_id: 1 });
  t.equal(use(next), null, 'used');
  t.equal(use(make()), null, 'there is an owner now');
  const actions = app.db.prepare('SELECT action FROM audit_log ORDER BY id').pluck().all();
  t.strictSame(actions.slice(-3), ['user_added', 'login_link_used', 'login_link_made']);
});

t.test(
  'a login link of a user sets a new password and ends their sessions; a second factor stays unless it is taken off',
  async (t) => {
    const { app, signIns, read } = await withPerson(t);
    const signedIn = await signIns.withPassword('owner@example.org', PASSWORD, HOME);
    if (signedIn.outcome !== 'signed-in') throw new Error(signedIn.outcome);
    const totp = newTotpSecret();
    const code = totpCode(totp, Math.floor(app.clock.now().getTime() / 30_000));
    switchOnSecondFactor(app.drizzle, read(), totp, code, COMMAND_LINE, app.clock.now());
    const follow = (resetsSecondFactor: boolean) => {
      const link = { accountId: 1, user: read(), resetsSecondFactor };
      const { secret } = createLoginLink(app.drizzle, link, COMMAND_LINE, app.clock.now());
      const choice = {
        address: parseAddress('other@example.org')!,
        name: 'New name',
        passwordHash: 'scrypt$4$8$1$AA$AA',
      };
      return useLoginLink(app.drizzle, secret, choice, '192.0.2.1', app.clock.now());
    };
    t.match(follow(false), { email: 'owner@example.org', name: 'New name', totp_secret: totp });
    t.equal(findSession(app.drizzle, signedIn.secret, app.clock.now()), null);
    t.match(follow(true), { totp_secret: null, recovery_hashes: [] });
    const logged = app.db.prepare("SELECT actor FROM audit_log WHERE action = 'second_factor_off'").pluck().all();
    t.strictSame(logged, ['owner@example.org'], 'the log says that the link took it off');
  },
);
