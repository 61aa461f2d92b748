/** The signed texts in links: one spelling each, one purpose each. */
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { connect } from '../../../src/database/open.ts';
import { migrateAndSeed } from '../../../src/database/upgrade.ts';
import { parseReturnPath, returnPath } from '../../../src/delivery/links/return-paths.ts';
import {
  deriveKey,
  linkSecrets,
  ownReturnPathKeys,
  returnPathKeys,
  rootSecrets,
} from '../../../src/delivery/links/secrets.ts';
import { hmacSha512 } from '../../../src/delivery/links/token-crypto.ts';
import {
  type ContactLookup,
  createLinkTokens,
  createTokens,
  openTokens,
  type Purpose,
  withoutTokens,
} from '../../../src/delivery/links/tokens.ts';
import { oldDatabase } from '../../support/releases.ts';

const PURPOSES: readonly Purpose[] = ['open', 'click', 'unsubscribe', 'web'];
/** A file in which every address id belongs to this person, and nothing is of an earlier release. */
const KNOWN: ContactLookup = {
  findEmail: () => 'anna@example.org',
  unsigned: { deliveries: 0, mailings: 0, addresses: 0 },
};
const tokens = createTokens(['the newest secret', 'an older secret'], KNOWN);
const ids = fc.record({
  delivery: fc.nat(),
  mailing: fc.nat(),
  address: fc.nat(),
  group: fc.nat(),
  user: fc.nat(),
  email: fc.constant('anna@example.org'),
});
/** As long as three remainders of three: base64url then leaves no, four and two bits unused. */
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });

/** The token with each single bit of its characters flipped, and in the other spellings a lenient reader takes for the same. */
function alterations(token: string): string[] {
  const flipped = [...token].flatMap((character, at) =>
    Array.from({ length: 8 }, (_, bit) => {
      const other = String.fromCharCode(character.charCodeAt(0) ^ (1 << bit));
      return token.slice(0, at) + other + token.slice(at + 1);
    }),
  );
  const [body = '', mac = ''] = token.split('.');
  const standard = token.replaceAll('-', '+').replaceAll('_', '/');
  const respelled = [
    `${body}=.${mac}`,
    `${body}.${mac}==`,
    ` ${token}`,
    `${token}\n`,
    `${body}.${mac}.x`,
    `${body}A.${mac}`,
  ];
  return [...flipped, ...respelled, ...(standard === token ? [] : [standard])];
}

t.test('a token with one bit changed anywhere is refused, unused bits of its encoding included', async () => {
  fc.assert(
    fc.property(text, (given) => {
      const token = tokens.sign('design', given);
      return (
        tokens.read('design', token) === given &&
        alterations(token).every((altered) => tokens.read('design', altered) === null)
      );
    }),
    { numRuns: 60 },
  );
  fc.assert(
    fc.property(ids, fc.constantFrom(...PURPOSES), (given, purpose) => {
      const token = tokens.recipient(given)[purpose];
      return alterations(token).every((altered) => tokens.readRecipient(purpose, altered) === null);
    }),
    { numRuns: 60 },
  );
});

t.test('RFC 2104: texts and keys of any length get the HMAC that Node computes', async () => {
  const any = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.string({ unit: 'binary', minLength: 100, maxLength: 1200 }),
  );
  fc.assert(
    fc.property(any, fc.array(any, { minLength: 1, maxLength: 5 }), (key, texts) => {
      const macOf = hmacSha512(key);
      return texts.every((given) => macOf(given).equals(createHmac('sha512', key).update(given).digest()));
    }),
  );
});

t.test('every character but the last of each part can end in unused bits; all 64 last ones are tried', async (t) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (const given of ['a', 'ab', 'abc']) {
    const [body = '', mac = ''] = tokens.sign('verify-sender', given).split('.');
    const read = [...alphabet].flatMap((last) => [
      tokens.read('verify-sender', `${body.slice(0, -1)}${last}.${mac}`),
      tokens.read('verify-sender', `${body}.${mac.slice(0, -1)}${last}`),
    ]);
    t.strictSame(
      read.filter((found) => found !== null),
      [given, given],
      'just the one spelling of each part',
    );
  }
});

t.test('a token works for one purpose, signed by an older secret too, and by no foreign one', async () => {
  const older = createTokens(['an older secret'], KNOWN);
  const foreign = createTokens(['somebody else’s secret'], KNOWN);
  fc.assert(
    fc.property(ids, text, (given, said) => {
      const own = tokens.recipient(given);
      const crossed = PURPOSES.flatMap((of) =>
        PURPOSES.filter((as) => as !== of).map((as) => tokens.readRecipient(as, own[of])),
      );
      return (
        crossed.every((found) => found === null) &&
        tokens.read('design', tokens.sign('verify-sender', said)) === null &&
        tokens.read('design', own.web) === null &&
        tokens.readRecipient('unsubscribe', older.recipient(given).unsubscribe)?.address === given.address &&
        tokens.read('design', older.sign('design', said)) === said &&
        tokens.readRecipient('unsubscribe', foreign.recipient(given).unsubscribe) === null &&
        tokens.read('design', foreign.sign('design', said)) === null
      );
    }),
  );
});

t.test('a token is refused where its address id belongs to somebody else or to nobody', async () => {
  const elsewhere = (email: string | undefined) =>
    createTokens(['the newest secret'], { ...KNOWN, findEmail: () => email });
  fc.assert(
    fc.property(ids, fc.constantFrom(...PURPOSES), (given, purpose) => {
      const token = tokens.recipient(given)[purpose];
      return (
        tokens.readRecipient(purpose, token)?.email === given.email &&
        elsewhere('bob@example.org').readRecipient(purpose, token) === null &&
        elsewhere(undefined).readRecipient(purpose, token) === null
      );
    }),
  );
});

const SHORT: ContactLookup = { ...KNOWN, findMailing: () => ({ user: 7, group: 2 }) };
const shortTokens = createTokens(['the newest secret', 'an older secret'], SHORT);
const clickIds = ids.map((given) => ({ ...given, user: 7, group: 2 }));

t.test('a click address has at most 60 characters of path, and no other part of another token', async (t) => {
  const largest = { delivery: 1e12, mailing: 1e8, address: 1e11, group: 2, user: 7, email: 'anna@example.org' };
  const { click, ...others } = shortTokens.recipient(largest);
  t.ok(`/c/${click}/117`.length <= 60, `/c/${click}/117`);
  t.strictSame(shortTokens.readRecipient('click', click), largest);
  const { click: long, ...same } = tokens.recipient(largest);
  t.strictSame(others, same, 'the tokens of other purposes are as they were');
  t.strictSame(shortTokens.readRecipient('click', long), largest, 'and so do addresses of earlier mails');
});

t.test('a short click token is refused with one bit changed, of another mail, person, account or secret', async () => {
  const foreign = createTokens(['somebody else’s secret'], SHORT);
  const without = (more: Partial<ContactLookup>) => createTokens(['the newest secret'], { ...SHORT, ...more });
  const refusing = [
    without({ findMailing: () => undefined }),
    without({ findMailing: () => ({ user: 8, group: 2 }) }),
    without({ findEmail: () => 'bob@example.org' }),
    without({ findEmail: () => undefined }),
    foreign,
    tokens,
  ];
  fc.assert(
    fc.property(clickIds, clickIds, (given, other) => {
      const token = shortTokens.recipient(given).click;
      const [body = '', mac = ''] = token.split('.');
      const [, otherMac = ''] = shortTokens.recipient({ ...other, delivery: given.delivery + 1 }).click.split('.');
      return (
        shortTokens.readRecipient('click', token)?.delivery === given.delivery &&
        [...alterations(token), `0${token}`, `${body}.${otherMac}`, `${body}.${mac.slice(0, -1)}`].every(
          (altered) => shortTokens.readRecipient('click', altered) === null,
        ) &&
        refusing.every((reader) => reader.readRecipient('click', token) === null) &&
        PURPOSES.filter((purpose) => purpose !== 'click').every(
          (purpose) => shortTokens.readRecipient(purpose, token) === null,
        )
      );
    }),
    { numRuns: 60 },
  );
});

t.test('the token of a click address is removed from a mail that is shown, long or short', async (t) => {
  const given = { delivery: 7, mailing: 3, address: 12, group: 2, user: 7, email: 'anna@example.org' };
  for (const { click } of [tokens.recipient(given), shortTokens.recipient(given)])
    t.equal(withoutTokens(`A: b\r\n\r\n<a href=3D"/c/${click}/5">`), 'A: b\r\n\r\n<a href=3D"/c/hidden/5">');
});

t.test('the confirmation of a subscription is removed from a mail that is shown', async (t) => {
  const link = `/f/confirm/${'a_-9'.repeat(8)}`;
  t.equal(withoutTokens(`A: b\r\n\r\n${link.slice(0, 20)}=\r\n${link.slice(20)} .`), 'A: b\r\n\r\n/f/confirm/hidden .');
});

t.test('a token of an earlier release goes on working for the ids of its time, and for no later one', async (t) => {
  const db = connect(oldDatabase(t, 5));
  t.teardown(() => db.$client.close());
  db.$client.exec(`
    INSERT INTO addresses (id, user_id, compared_email) VALUES (3, 7, 'anna@example.org');
    INSERT INTO mailings (id, user_id, owner_kind, owner_id, content, state, created_at) VALUES (2, 7, 'test', 1, '{}', 'done', '');
    INSERT INTO deliveries (id, mailing_id, address_id) VALUES (40, 2, 3);`);
  migrateAndSeed(db);
  db.$client.exec("INSERT INTO addresses (id, user_id, normalized_email) VALUES (4, 7, 'bob@example.org')");
  const [secret = ''] = rootSecrets(db.$client);
  const unsigned = (delivery: number, mailing: number, address: number) => {
    const body = `${delivery.toString(36)}-${mailing}-${address}-1-7`;
    const mac = createHmac('sha512', secret).update(`recipient:${body}`).digest();
    return `${body}.${mac.toString('base64url', 32, 48)}`;
  };
  const read = (token: string) => openTokens(db.$client).readRecipient('unsubscribe', token);
  t.match(read(unsigned(40, 2, 3)), { delivery: 40, mailing: 2, address: 3, email: 'anna@example.org' });
  t.equal(read(unsigned(40, 2, 4)), null, 'an address of later');
  t.equal(read(unsigned(41, 2, 3)), null, 'a delivery of later');
  t.equal(read(unsigned(40, 3, 3)), null, 'a mailing of later');
});

t.test(
  'a sealed token shows its address to a reader without a database, and to nobody without the secret',
  async (t) => {
    const ids = { delivery: 7, mailing: 3, address: 12, group: 1, user: 1, email: 'ada@example.com' };
    const unsigned = { deliveries: 0, mailings: 0, addresses: 0 };
    const nobody = { findEmail: () => undefined, unsigned };
    const sealing = createTokens(['new secret', 'old secret'], { ...nobody, sealsAddress: true });
    for (const email of ['a@b.c', 'ab@b.c', 'abc@b.c', `${'x'.repeat(64)}@example.com`]) {
      t.match(sealing.readRecipient('web', sealing.recipient({ ...ids, email }).web), { email });
    }
    const { unsubscribe, open } = sealing.recipient(ids);
    t.notMatch(Buffer.from(unsubscribe.split('~')[1] ?? '', 'base64url').toString('latin1'), 'ada');
    t.strictSame(sealing.readRecipient('unsubscribe', unsubscribe), ids);
    t.strictSame(createTokens(['later', 'new secret'], nobody).readRecipient('open', open), ids, 'after a new secret');
    t.equal(createTokens(['another'], nobody).readRecipient('open', open), null);
    t.equal(sealing.readRecipient('click', open), null, 'for one purpose only');
    const knowing = createTokens(['new secret'], { findEmail: () => 'ada@example.com', unsigned });
    t.strictSame(knowing.readRecipient('open', open), ids, 'with a database');
    const other = createTokens(['new secret'], { findEmail: () => 'eve@example.com', unsigned });
    t.equal(other.readRecipient('open', open), null, 'the database is believed where it knows the person');
    const [plain = ''] = open.split('~');
    t.equal(sealing.readRecipient('open', plain), null, 'without the address nobody can tell');
    t.strictSame(sealing.readRecipient('open', plain, 'ada@example.com'), ids);
    for (const changed of [`${plain}~AAAA`, `${plain}~`, `${open}A`, `${plain}~${open.split('~')[1]}~x`]) {
      const read = sealing.readRecipient('open', changed);
      t.ok(read === null || read.email === ids.email, changed);
    }
  },
);

t.test(
  'after an upgrade recipients keep their links, and nodes that know the old secret can sign nothing else',
  async (t) => {
    const upgraded = (hasNodes: boolean) => {
      const db = connect(oldDatabase(t, 64));
      t.teardown(() => db.$client.close());
      db.$client.exec(`
      INSERT INTO addresses (id, user_id, normalized_email) VALUES (3, 7, 'anna@example.org');
      INSERT INTO installation (name, value) VALUES ('token_secrets', '["the old secret"]')`);
      if (hasNodes)
        db.$client.exec("INSERT INTO installation (name, value) VALUES ('applied_SENDLARK_CONSENTS', '{}')");
      migrateAndSeed(db);
      return db.$client;
    };
    const given = { delivery: 40, mailing: 2, address: 3, group: 1, user: 7, email: 'anna@example.org' };
    const early = createLinkTokens(['the old secret'], KNOWN).recipient(given);
    const earlyText = (purpose: string, text: string) => {
      const mac = createHmac('sha256', 'the old secret').update(`${purpose}:${text}`).digest();
      return `${Buffer.from(text).toString('base64url')}.${mac.toString('base64url', 0, 16)}`;
    };
    const returned = { id: 40, email: 'anna@example.org' };
    const known = { findEmail: () => 'anna@example.org', unsignedUpTo: 0 };
    const earlyPath = returnPath('the old secret', returned, 'bounces.example.com');
    for (const hasNodes of [true, false]) {
      const client = upgraded(hasNodes);
      const tokens = openTokens(client);
      for (const purpose of PURPOSES) t.match(tokens.readRecipient(purpose, early[purpose]), { delivery: 40 });
      t.equal(tokens.read('shared', earlyText('shared', '2 7')), '2 7');
      t.equal(parseReturnPath(returnPathKeys(client), known, earlyPath), 40);
      const isKept = hasNodes ? null : 'x';
      for (const purpose of ['verify-sender', 'provider-events', 'design', 'form', 'second-factor'])
        t.equal(tokens.read(purpose, earlyText(purpose, 'x')), isKept, `${purpose}, ${hasNodes}`);
      t.equal(linkSecrets(client).includes('the old secret'), hasNodes, 'nodes get no secret that they did not have');
      t.equal(rootSecrets(client).includes('the old secret'), !hasNodes);
      const again = openTokens(client).recipient(given).open;
      t.equal(again, tokens.recipient(given).open, 'the same after a restart');
      // What nodes have, and every key that is made of it, signs nothing of the service.
      for (const key of linkSecrets(client).flatMap((secret) => [secret, deriveKey(secret, 'verify-sender')])) {
        const mac = createHmac('sha256', key).update('verify-sender:x').digest().toString('base64url', 0, 16);
        t.equal(tokens.read('verify-sender', `${Buffer.from('x').toString('base64url')}.${mac}`), null);
      }
      const own = ownReturnPathKeys(client);
      for (const key of returnPathKeys(client).slice(0, 1))
        t.equal(parseReturnPath(own, known, returnPath(key, returned, 'bounces.example.com')), null);
    }
  },
);
