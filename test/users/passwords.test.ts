/** Which passwords are accepted, how they are stored, and that hashing many at once stays bounded. */
import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import t from 'tap';
import { passwordFault } from '../../src/users/password-rules.ts';
import { hashPassword, isWeaklyHashed, verifyPassword } from '../../src/users/passwords.ts';

const PERSON = ['Zoë Müller', 'zoe@larkbooks.example'];

t.test('passwords that guessing programs try first are refused, passphrases and random ones are not', async (t) => {
  const refused = {
    short: ['', 'x', 'Tr0ub4dor&3', 'kürzer als'],
    common: [
      'passwordpassword',
      'Password2024!',
      'P@ssw0rd1234',
      'qwertyuiop123',
      'QWERTZUIOP!!',
      '123456789012',
      'abababababab',
      'aaaaaaaaaaaaaaaa',
      'abc!abc!abc!',
      'iloveyou1999',
      'Summer2025Summer2025',
      'letmein letmein',
      'administrator1!',
      '1q2w3e4r5t6y',
      'Willkommen2024',
      'zebrazebrazebra',
      'monkeydragon1!',
    ],
    personal: ['zoemüller2024', 'larkbooks-zoe-1', 'Müller Müller Zoë'],
    long: ['x'.repeat(200) + 'correct horse battery staple'.repeat(3)],
  };
  for (const [fault, passwords] of Object.entries(refused))
    for (const password of passwords) t.equal(passwordFault(password, PERSON), fault, password);
  const accepted = [
    'correct horse battery staple',
    'X7#qm!v2Lp9w',
    'der Vogel singt im Regen',
    'ubiquitous-otter-41',
    '密码是一只会唱歌的云雀在清晨',
    'kP3xv9ZrT2mQ',
  ];
  for (const password of accepted) t.equal(passwordFault(password, PERSON), null, password);
});

/** The password of the next tests as it is stored. It is hashed once, because a hash takes 0.3 s of CPU. */
const PASSWORD = 'caf\u00e9 am Morgen hell';
const stored = await hashPassword(PASSWORD);

t.test('a stored password tells its parameters, its own salt and nothing of the password', async (t) => {
  t.match(stored, /^scrypt\$17\$8\$1\$[\w-]{22}\$[\w-]{43}$/);
  t.not(await hashPassword(PASSWORD), stored);
  t.equal(await verifyPassword(PASSWORD, stored, 'last'), true);
  t.equal(await verifyPassword('caf\u00e9 am Morgen helx', stored, 'last'), false);
  t.equal(isWeaklyHashed(stored), false);
  t.equal(isWeaklyHashed(stored.replace('$17$', '$15$')), true);
});

t.test('letters that look the same are the same, however the keyboard composes them', async (t) => {
  t.equal(await verifyPassword('cafe\u0301 am Morgen hell', stored, 'last'), true);
});

t.test('without a stored password no password is right, after the same work as with one', async (t) => {
  const known = await workOf(() => verifyPassword('wrong horse battery', stored, 'last'));
  t.strictSame(await workOf(() => verifyPassword('wrong horse battery', null, 'last')), known);
  t.strictSame(known, ['SCRYPTREQUEST'], 'one hash is made');
  t.equal(await verifyPassword('', null, 'last'), false);
});

/** What Node's worker threads are asked to do meanwhile. */
async function workOf(act: () => Promise<unknown>): Promise<string[]> {
  const begun: string[] = [];
  const hook = createHook({ init: (_id, type) => void (type.endsWith('REQUEST') && begun.push(type)) }).enable();
  await act();
  hook.disable();
  return begun;
}

t.test('only so many hashes wait: strangers beyond that are refused, people we know go first', async (t) => {
  // Hashes are begun in turn on this thread; which of two threads ends its hash first is left to chance.
  const who = new AsyncLocalStorage<string>();
  const begun: (string | undefined)[] = [];
  const hook = createHook({ init: (_id, type) => void (type === 'SCRYPTREQUEST' && begun.push(who.getStore())) });
  hook.enable();
  const weak = 'scrypt$10$8$1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
  let refused = 0;
  const strangers = Array.from({ length: 30 }, () =>
    who.run('stranger', () => verifyPassword('guess', weak, 'last').catch(() => refused++)),
  );
  const known = who.run('known', () => verifyPassword('mine', weak, 'first'));
  await Promise.all([...strangers, known]);
  hook.disable();
  t.equal(refused, 8, 'two at work and twenty waiting');
  t.equal(begun.length, 23);
  t.equal(begun.indexOf('known'), 2, 'the next after the two at work');
});
