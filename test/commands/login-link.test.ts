/** `sendlark login-link`: for whom it makes a link, how often and how long that works, and what it takes off. */
import t, { type Test } from 'tap';
import { COMMAND_LINE } from '../../src/users/audit.ts';
import { addPasskey } from '../../src/users/passkeys/passkeys.ts';
import { startApp } from '../support/app.ts';
import { sendlark } from '../support/command-line.ts';
import { addPerson, callerOf } from '../support/people.ts';

/** The command on the database of an application, whose clock stands where the command's does. */
async function started(t: Test) {
  const app = await startApp(t);
  app.clock.jump(Date.now() - app.clock.now().getTime());
  const run = (...words: string[]) => sendlark({ DATABASE_PATH: app.path }, 'login-link', ...words);
  const made = async (...words: string[]) => {
    const { out, err } = await run(...words, '--json');
    const { link, user, expires_at }: { link: string; user: string | null; expires_at: string } = JSON.parse(
      out || err,
    );
    return { secret: link.split('#')[1] ?? '', link, user, expiresAt: new Date(expires_at) };
  };
  const post = (path: string, form: Record<string, string>) =>
    app.page('POST', path, { form, headers: { 'sec-fetch-site': 'same-origin' } });
  const open = async (secret: string) => (await post('/welcome/open', { secret })).status;
  const follow = async (secret: string) =>
    (await post('/welcome', { secret, name: 'Ann', email: 'ann@example.org', password: 'lark sings in the rain' }))
      .status;
  return { app, run, made, open, follow };
}

t.test('without users it makes a link for the first owner, which works once', async (t) => {
  const { app, run, made, open, follow } = await started(t);
  t.match(
    (await run()).out,
    /^For the first owner, once, within 30 minutes:\nhttp:\/\/127\.0\.0\.1:3000\/welcome#[\w-]{43}\n$/,
  );
  const { secret, user } = await made();
  t.equal(user, null);
  t.notOk(app.db.serialize().includes(secret), 'the file holds a hash of it');
  t.equal(await open(secret), 200);
  t.equal(await follow(secret), 303);
  t.strictSame([await open(secret), await follow(secret)], [410, 410], 'it is used up');
  t.match(app.db.prepare('SELECT email, role FROM users').all(), [{ email: 'ann@example.org', role: 'owner' }]);
  t.equal((await made()).user, 'ann@example.org', 'then it is for the one user there is');
});

t.test('a link works for 30 minutes, and a new one for the same person ends it', async (t) => {
  const { app, made, open } = await started(t);
  const earlier = await made();
  const { secret, expiresAt } = await made();
  t.equal(await open(earlier.secret), 410);
  const half = 30 * 60_000;
  t.ok(Math.abs(expiresAt.getTime() - half - app.clock.now().getTime()) < 60_000);
  app.clock.jump(expiresAt.getTime() - 1 - app.clock.now().getTime());
  t.equal(await open(secret), 200);
  app.clock.jump(1);
  t.equal(await open(secret), 410);
});

t.test(
  'for a user it sets the password and ends their sessions; second factor and passkeys only where it says so',
  async (t) => {
    const { app, made, follow } = await started(t);
    const person = addPerson(app, 'editor');
    addPerson(app, 'owner');
    const session = callerOf(app, person);
    app.db.prepare("UPDATE users SET totp_secret = 'A' WHERE id = ?").run(person.id);
    const passkey = { credentialId: 'x', publicKey: new Uint8Array([1]), counter: 0, transports: [] };
    addPasskey(app.drizzle, person, 'phone', passkey, COMMAND_LINE, app.clock.now());
    const factors = () =>
      app.db
        .prepare('SELECT totp_secret, (SELECT count(*) FROM passkeys) AS passkeys FROM users WHERE id = ?')
        .get(person.id);
    const first = await made('--user', 'EDITOR@example.org');
    t.equal(first.user, 'editor@example.org');
    t.equal((await session.call('GET', '/me/details')).status, 200);
    t.equal(await follow(first.secret), 200, 'the page that asks for the code');
    t.equal((await session.call('GET', '/me/details')).status, 401);
    t.match(factors(), { totp_secret: 'A', passkeys: 1 });
    const second = await made('--user', 'editor@example.org', '--without-second-factor');
    t.match(factors(), { totp_secret: 'A', passkeys: 1 }, 'the link alone changes nothing');
    t.equal(await follow(second.secret), 303);
    t.match(factors(), { totp_secret: null, passkeys: 0 });
  },
);

t.test('for nobody or several people it makes no link and says why in one line', async (t) => {
  const { app, run } = await started(t);
  addPerson(app, 'owner');
  addPerson(app, 'viewer');
  for (const [words, code, line] of [
    [['--user', 'nobody@example.org'], 1, 'There is no user nobody@example.org'],
    [['--user', 'no address'], 1, 'There is no user no address'],
    [['--account', '9'], 1, 'There is no account 9; see: sendlark account list'],
    [[], 1, 'Account 1 has several users: say which with --user EMAIL'],
    [['--without-second-factor'], 2, '--without-second-factor needs --user EMAIL'],
    [['--user', 'owner@example.org', '--account', '1'], 2, 'Give either --user EMAIL or --account N'],
  ] as const) {
    const ran = await run(...words);
    t.strictSame([ran.code, ran.out], [code, ''], line);
    t.match(ran.err, line);
    const [, ...more] = ran.err.trimEnd().split('\n');
    t.strictSame(more, code === 2 ? ['See: sendlark help login-link'] : []);
  }
  t.equal(app.db.prepare('SELECT count(*) FROM login_links').pluck().get(), 0);
});
