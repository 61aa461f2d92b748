/** What passkeys need to sign in, below the browser: the right site, person, challenge, signature and counter. */
import t, { type Test } from 'tap';
import { parseAddress } from '../../src/audience/contacts/addresses.ts';
import { COMMAND_LINE } from '../../src/users/audit.ts';
import { createLoginLink, useLoginLink } from '../../src/users/login-links.ts';
import { PasskeyChallenges } from '../../src/users/passkeys/challenges.ts';
import { checkNewPasskey } from '../../src/users/passkeys/check.ts';
import { addPasskey, type NewPasskey } from '../../src/users/passkeys/passkeys.ts';
import { readPasskeyAnswer, relyingParty, userHandle } from '../../src/users/passkeys/requests.ts';
import { SignIns } from '../../src/users/sign-in.ts';
import { FakeClock, startApp } from '../support/app.ts';
import { addPerson } from '../support/people.ts';
import { type Bent, SoftPasskey } from '../support/soft-passkey.ts';

const ORIGIN = 'https://mail.example.com';
const PARTY = { id: 'mail.example.com', origin: ORIGIN };
const MINUTE = 60_000;

/** The device of every test, and its passkey, which is checked once, since each check starts a thread. */
const device = new SoftPasskey(ORIGIN);
const ofDevice = (await checkNewPasskey(readPasskeyAnswer(device.register('AAAA'))!, PARTY))!;

async function withPasskey(t: Test) {
  const app = await startApp(t);
  const person = addPerson(app);
  const signIns = new SignIns({ db: app.drizzle, clock: app.clock, tokens: app.tokens });
  device.counter = 0;
  const add = (made: NewPasskey, user = person) =>
    addPasskey(app.drizzle, user, 'Phone', made, COMMAND_LINE, app.clock.now());
  t.ok(add(ofDevice), 'the passkey is added');
  let tries = 0;
  const at = () => ({ address: `192.0.2.${++tries}`, userAgent: 'Test' });
  const challenge = (browser = 'visit') => signIns.challenges.make('sign-in', browser);
  const send = async (json: string, browser = 'visit') => {
    // So that it is not for the number of attempts that one is refused.
    app.clock.advance(MINUTE);
    return (await signIns.withPasskey(json, PARTY, browser, at())).outcome;
  };
  const signIn = (bent: Bent = {}) => send(device.signIn(challenge(), userHandle(person.id), bent));
  return { app, person, signIns, add, challenge, send, signIn };
}

t.test(
  'a passkey signs in, as both factors, and an answer works once, for one browser, for five minutes',
  async (t) => {
    const { app, person, challenge, send, signIns } = await withPasskey(t);
    app.db.exec("UPDATE users SET totp_secret = 'A'");
    const handle = userHandle(person.id);
    const json = device.signIn(challenge(), handle);
    t.equal(await send(json, 'another visit'), 'refused', 'it is for another browser');
    t.equal(await send(json), 'signed-in');
    t.equal(await send(json), 'refused', 'it was used');
    const late = device.signIn(challenge(), handle);
    app.clock.advance(5 * MINUTE);
    t.equal(await send(late), 'refused', 'it is too late');
    const other = device.signIn(signIns.challenges.make('registration', 'visit'), handle);
    t.equal(await send(other), 'refused', 'the challenge is for something else');
    t.equal(await send(device.signIn(challenge(), handle)), 'signed-in');
    const failures = app.db.prepare("SELECT sum(times) FROM audit_log WHERE action = 'sign_in_failed'").pluck().get();
    t.equal(failures, 4, 'each failure is in the log');
  },
);

t.test('a passkey is refused with a wrong site, person, signature or counter, and without the person', async (t) => {
  const { app, person, signIn } = await withPasskey(t);
  const wrong: Record<string, Bent> = {
    'another origin': { origin: 'https://evil.example' },
    'plain http': { origin: 'http://mail.example.com' },
    'another site': { rpId: 'evil.example' },
    'a new passkey in place of a sign-in': { type: 'webauthn.create' },
    'a device that recognized nobody': { isVerified: false },
    'a forged signature': { isForged: true },
    'another person': { userHandle: userHandle(person.id + 1) },
    'no person': { userHandle: '' },
    'an unknown passkey': { id: 'AAAA' },
    'a challenge of somebody else': { challenge: 'A'.repeat(72) },
  };
  for (const [what, bent] of Object.entries(wrong)) t.equal(await signIn(bent), 'refused', what);
  t.equal(await signIn(), 'signed-in');
  t.equal(await signIn({ counter: device.counter }), 'refused', 'the same counter again');
  t.equal(await signIn({ counter: 1 }), 'refused', 'a lower one');
  t.equal(await signIn({ counter: 50 }), 'signed-in');
  app.db.exec('DELETE FROM passkeys');
  t.equal(await signIn({ counter: 51 }), 'refused', 'it was removed');
});

t.test('passkeys without a counter work again and again', async (t) => {
  const { signIn } = await withPasskey(t);
  for (let times = 0; times < 3; times++) t.equal(await signIn({ counter: 0 }), 'signed-in');
});

t.test('what is no answer of a browser is refused', async (t) => {
  const { challenge, send } = await withPasskey(t);
  const id = device.id.toString('base64url');
  const clientData = (text: string) => Buffer.from(text).toString('base64url');
  for (const json of [
    '',
    'null',
    '[]',
    '{"id":1}',
    '{"__proto__":{"id":"AAAA"}}',
    `{"id":"${id}"}`,
    `{"id":"${id}","response":{"clientDataJSON":"${clientData('no')}"}}`,
    `{"id":"${id}","response":{"clientDataJSON":"${clientData('{"challenge":{}}')}"}}`,
    `{"id":"${id}","response":{"clientDataJSON":"${clientData(`{"challenge":"${challenge()}"}`)}"}}`,
    device.register(challenge()),
    device.signIn(challenge(), 'x').replace(id, 'A'.repeat(5000)),
  ]) {
    t.equal(await send(json), 'refused', json.slice(0, 60));
  }
});

t.test('guessing with passkeys is slowed down like guessing passwords', async (t) => {
  const { signIns, challenge } = await withPasskey(t);
  const guess = () =>
    signIns.withPasskey(device.signIn(challenge(), 'x', { id: 'AAAA' }), PARTY, 'visit', {
      address: '198.51.100.7',
      userAgent: 'Test',
    });
  for (let at = 0; at < 5; at++) t.strictSame(await guess(), { outcome: 'refused' });
  t.match(await guess(), { outcome: 'wait', seconds: 1 });
});

t.test('a passkey of one person is not added to another; nobody has more than twenty', async (t) => {
  const { app, add } = await withPasskey(t);
  const other = addPerson(app, 'viewer');
  t.equal(add(ofDevice, other), false);
  app.db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 19)
    INSERT INTO passkeys (user_id, credential_id, public_key, created_at) SELECT ${other.id}, 'key ' || i, x'00', '' FROM n`);
  t.equal(add({ ...ofDevice, credentialId: 'the twentieth' }, other), true);
  t.equal(add({ ...ofDevice, credentialId: 'one more' }, other), false);
});

t.test('a new passkey of another site, or of a device that recognized nobody, is refused', async (t) => {
  for (const bent of [
    { origin: 'https://evil.example' },
    { rpId: 'evil.example' },
    { isVerified: false },
    { type: 'webauthn.get' },
  ])
    t.equal(
      await checkNewPasskey(readPasskeyAnswer(device.register('AAAA', bent))!, PARTY),
      null,
      JSON.stringify(bent),
    );
  t.match(ofDevice, { counter: 0 });
});

t.test('a login link that takes the second factor off removes the passkeys, any other keeps them', async (t) => {
  const { app, person, signIn } = await withPasskey(t);
  const follow = (resetsSecondFactor: boolean) => {
    const link = { accountId: 1, user: person, resetsSecondFactor };
    const { secret } = createLoginLink(app.drizzle, link, COMMAND_LINE, app.clock.now());
    const choice = { address: parseAddress('o@example.org')!, name: 'O', passwordHash: 'scrypt$4$8$1$AA$AA' };
    useLoginLink(app.drizzle, secret, choice, '192.0.2.1', app.clock.now());
  };
  follow(false);
  t.equal(await signIn(), 'signed-in');
  follow(true);
  t.equal(await signIn(), 'refused');
  const removed = app.db.prepare("SELECT count(*) FROM audit_log WHERE action = 'passkey_removed'").pluck().get();
  t.equal(removed, 1, 'the log says that the link removed it');
});

t.test('passkeys are for the host of PUBLIC_URL, by its name, over https or on this machine', async (t) => {
  t.strictSame(relyingParty(ORIGIN, 'mail.example.com'), PARTY);
  t.match(relyingParty('https://mail.example.com:8443', 'mail.example.com:8443'), {
    origin: 'https://mail.example.com:8443',
  });
  t.match(relyingParty('http://localhost:3000', 'localhost:3000'), { id: 'localhost' });
  for (const [url, host] of [
    [ORIGIN, 'evil.example'],
    [ORIGIN, 'mail.example.com:8443'],
    [ORIGIN, 'localhost:3000'],
    ['http://mail.example.com', 'mail.example.com'],
    ['http://127.0.0.1:3000', '127.0.0.1:3000'],
    ['https://192.0.2.1', '192.0.2.1'],
    ['https://[2001:db8::1]', '[2001:db8::1]'],
  ] as const)
    t.equal(relyingParty(url, host), null, `${url} ${host}`);
});

t.test('strangers who ask for many challenges end none, and used ones take bounded memory', async (t) => {
  const clock = new FakeClock();
  const challenges = new PasskeyChallenges(clock);
  const mine = challenges.make('sign-in', 'mine');
  for (let at = 0; at < 11_000; at++) challenges.make('sign-in', `stranger ${at}`);
  t.ok(challenges.use(mine, 'sign-in', 'mine'));
  t.notOk(new PasskeyChallenges(clock).use(challenges.make('sign-in', 'x'), 'sign-in', 'x'), 'a restart ends all');
  for (let at = 1; at < 10_000; at++) challenges.use(challenges.make('sign-in', 'x'), 'sign-in', 'x');
  t.notOk(challenges.use(challenges.make('sign-in', 'x'), 'sign-in', 'x'), 'no more within five minutes');
  clock.advance(5 * MINUTE);
  t.ok(challenges.use(challenges.make('sign-in', 'x'), 'sign-in', 'x'));
});
