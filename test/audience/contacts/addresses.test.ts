import fc from 'fast-check';
import t from 'tap';
import {
  addressesIn,
  parseAddress,
  parseAddressList,
  replaceAddress,
} from '../../../src/audience/contacts/addresses.ts';

const label63 = 'a'.repeat(63);

t.test('an address is kept as given, beside its normalized form', async (t) => {
  t.same(parseAddress(' Ann.Lee+news@Example.COM '), {
    address: 'Ann.Lee+news@Example.COM',
    normalized: 'ann.lee+news@example.com',
    domain: 'example.com',
  });
  t.same(parseAddress('Zoe@Bücher.example'), {
    address: 'Zoe@Bücher.example',
    normalized: 'zoe@xn--bcher-kva.example',
    domain: 'xn--bcher-kva.example',
  });
});

t.test('accepted', async (t) => {
  const accepted: [why: string, text: string][] = [
    ['every character of a dot-atom', "!#$%&'*+/=?^_`{|}~-.aZ09@example.com"],
    ['a local part of 64', `${'a'.repeat(64)}@example.com`],
    ['labels of 63', `a@${label63}.com`],
    ['a single letter everywhere', 'a@b.c'],
    ['digits in labels', 'a@1.2x.com'],
    ['hyphens inside', 'a@a--b.co-op.example'],
    ['a domain in ASCII form', 'a@xn--mnchen-3ya.de'],
    ['a top level in ASCII form', 'a@example.xn--p1ai'],
    ['254 in all', `a@${`${label63}.`.repeat(3)}${'b'.repeat(56)}.com`],
    ['white space around', '\t a@example.com\r\n'],
    ['a joiner where a script needs it', 'a@نامه\u200cای.com'],
  ];
  for (const [why, text] of accepted) t.ok(parseAddress(text), why);
});

t.test('refused', async (t) => {
  const refused: [why: string, text: string][] = [
    ['nothing', ''],
    ['white space', '  \n'],
    ['no @', 'example.com'],
    ['no local part', '@example.com'],
    ['no domain', 'a@'],
    ['two @', 'a@b@example.com'],
    ['a UTF-8 local part', 'zoë@example.com'],
    ['a full-width local part', 'ａ@example.com'],
    ['a quoted local part', '"a b"@example.com'],
    ['a quoted local part without need', '"a"@example.com'],
    ['a comment before', '(x)a@example.com'],
    ['a comment behind', 'a@example.com(x)'],
    ['a dot in front', '.a@example.com'],
    ['a dot behind', 'a.@example.com'],
    ['two dots', 'a..b@example.com'],
    ['white space in the local part', 'a b@example.com'],
    ['white space at the @', 'a @example.com'],
    ['a backslash', 'a\\b@example.com'],
    ['a display name', 'Ann <a@example.com>'],
    ['angle brackets', '<a@example.com>'],
    ['a group', 'friends:a@example.com;'],
    ['a semicolon', 'a@example.com;b@example.com'],
    ['a comma', 'a@example.com,b@example.com'],
    ['a source route', '@hop.example:a@example.com'],
    ['a line break within', 'a@example.com\r\nBcc: b@example.com'],
    ['a line break in the local part', 'a\n@example.com'],
    ['a line separator', 'a@example\u2028.com'],
    ['NUL', 'a\0@example.com'],
    ['NUL in the domain', 'a@exam\0ple.com'],
    ['a scheme', 'mailto:a@example.com'],
    ['a local part of 65', `${'a'.repeat(65)}@example.com`],
    ['255 in all', `a@${`${label63}.`.repeat(3)}${'b'.repeat(57)}.com`],
    ['254 as given, more in ASCII form', `a@${`${'ü'.repeat(50)}.`.repeat(4)}${'ü'.repeat(40)}.com`],
    ['no dot', 'a@localhost'],
    ['a domain literal', 'a@[192.0.2.1]'],
    ['an IPv6 literal', 'a@[IPv6:2001:db8::1]'],
    ['an IPv4 address', 'a@192.0.2.1'],
    ['a short IPv4 address', 'a@127.1'],
    ['a hexadecimal IPv4 address', 'a@1.0x7f'],
    ['an empty hexadecimal number', 'a@1.0x'],
    ['a full-width IPv4 address', 'a@１９２.０.２.１'],
    ['a numeric top level', 'a@example.123'],
    ['an empty label in front', 'a@.example.com'],
    ['an empty label within', 'a@example..com'],
    ['a dot at the end', 'a@example.com.'],
    ['a full-width dot at the end', 'a@example.com。'],
    ['a label of 64', `a@${label63}a.com`],
    ['a label of more than 63 in ASCII form', `a@${'ü'.repeat(60)}.de`],
    ['a hyphen in front', 'a@-example.com'],
    ['a hyphen behind', 'a@example-.com'],
    ['a combining mark in front', 'a@\u0300example.com'],
    ['an underscore', 'a@my_host.example'],
    ['a full-width underscore', 'a@my＿host.example'],
    ['percent-encoding', 'a@exa%6dple.com'],
    ['percent-encoding beside a letter outside ASCII', 'a@ü%2e.com'],
    ['a full-width percent sign', 'a@ü％6d.com'],
    ['a port', 'a@example.com:25'],
    ['a port behind letters outside ASCII', 'a@bücher.example:25'],
    ['a path', 'a@example.com/b'],
    ['a path behind letters outside ASCII', 'a@bücher.example/b'],
    ['a query', 'a@bücher.example?b'],
    ['a fragment', 'a@bücher.example#b'],
    ['a tab, which a URL parser would drop', 'a@bü\tcher.example'],
    ['a backslash in the domain', 'a@bücher\\.example'],
    ['an ideographic space', 'a@a\u3000b.com'],
    ['a soft hyphen', 'a@exam\u00adple.com'],
    ['a zero-width space', 'a@exam\u200bple.com'],
    ['a byte order mark within', 'a@exam\ufeffple.com'],
    ['a variation selector', 'a@exam\ufe0fple.com'],
    ['a joiner where no script needs it', 'a@a\u200cb.com'],
    ['mixed directions in a label', 'a@אa.com'],
    ['half a surrogate pair', 'a@b\ud800.com'],
    ['false Punycode', 'a@xn--a.com'],
    ['Punycode of nothing', 'a@xn--.com'],
    ['Punycode of ASCII', 'a@xn--example-.com'],
    ['Punycode of what the mapping changes', 'a@xn--wca.de'],
    ['Punycode that overflows', 'a@xn--99999999999.com'],
    ['false Punycode beside true', 'a@xn--mnchen-3ya.xn--a.com'],
    ['false Punycode beside letters outside ASCII', 'a@münchen.xn--a.com'],
    ['Punycode with letters outside ASCII', 'a@xn--iñvalid.com'],
  ];
  for (const [why, text] of refused) t.equal(parseAddress(text), null, why);
});

t.test('addresses are found within a text, but not within a longer address', async (t) => {
  const texts: [text: string, addresses: string[]][] = [
    ['write to <Ann@Example.com>, or bo@bücher.example.', ['ann@example.com', 'bo@xn--bcher-kva.example']],
    ['["ann@example.com","joe-ann@example.com"]', ['ann@example.com', 'joe-ann@example.com']],
    ['ann@example.com.org äann@example.com ann@ @example.com a@b', ['ann@example.com.org']],
    [`'Ann@example.com' ="+bo@b.example"`, ["'ann@example.com", '+bo@b.example', 'ann@example.com', 'bo@b.example']],
    [`${"'".repeat(100)}ann@example.com`, ['ann@example.com']],
    ["ä'ann@example.com 1.=bo@b.example", ['1.=bo@b.example']],
    ['a'.repeat(1_000_000), []],
    ["'".repeat(1_000_000), []],
    ["a'".repeat(500_000), []],
    ['a@'.repeat(500_000), []],
  ];
  for (const [text, addresses] of texts) t.strictSame(addressesIn(text), addresses, text.slice(0, 60));
  t.equal(
    replaceAddress("<ann@example.com> 'ann@example.com' joe-ann@example.com", 'ann@example.com', '-'),
    "<-> '-' joe-ann@example.com",
  );
});

t.test('spellings of one mailbox have the same normalized form', async (t) => {
  const groups: [string, ...string[]][] = [
    ['a@x.com', 'A@X.com', ' a@x.com ', 'a@ｘ.com', 'a@x．com', 'a@x。ＣＯＭ'],
    ['a@münchen.de', 'a@mu\u0308nchen.de', 'A@MÜNCHEN.DE', 'a@xn--mnchen-3ya.de', 'a@XN--Mnchen-3YA.de'],
    ['a@straße.de', 'a@STRAẞE.de', 'a@xn--strae-oqa.de'],
    ['a@例え.jp', 'a@例え。jp', 'a@xn--r8jz45g.jp'],
  ];
  for (const group of groups) {
    t.equal(new Set(group.map((text) => parseAddress(text)?.normalized)).size, 1, group[0]);
    t.ok(parseAddress(group[0]));
  }
  t.not(parseAddress('a@straße.de')?.normalized, parseAddress('a@strasse.de')?.normalized, 'two domains of their own');
  t.not(
    parseAddress('a.b@x.com')?.normalized,
    parseAddress('ab@x.com')?.normalized,
    "a provider's own aliases stay apart",
  );
});

t.test('lists', async (t) => {
  const normalized = async (text: string, most = 10) => {
    const list = await parseAddressList(text, most);
    return 'bad' in list ? list : list.addresses.map((address) => address.normalized);
  };
  t.same(await normalized('a@x.com'), ['a@x.com']);
  t.same(await normalized('b@x.com, a@x.com ,\r\nc@x.com'), ['b@x.com', 'a@x.com', 'c@x.com'], 'in the order given');
  t.same(await normalized(',a@x.com,, b@x.com, ,'), ['a@x.com', 'b@x.com'], 'empty parts mean nothing');
  t.same(await normalized('a@x.com,A@X.COM'), ['a@x.com'], 'each address once');
  t.same(
    await normalized('a@x.com, b@, c@x.com,<d@x.com> '),
    { bad: ['b@', '<d@x.com>'], tooMany: false },
    'all or none',
  );
  t.same(await normalized('a@x.com b@x.com'), { bad: ['a@x.com b@x.com'], tooMany: false });
  t.same(await normalized('a@x.com;b@x.com'), { bad: ['a@x.com;b@x.com'], tooMany: false });
  t.same(await normalized('"a,b"@x.com'), { bad: ['"a', 'b"@x.com'], tooMany: false }, 'no quoting');
  for (const text of ['', ' ', ',', ' , ,'])
    t.same(await normalized(text), { bad: [], tooMany: false }, 'nothing is no list');
  t.same(await normalized('a@x.com,b@x.com,', 2), ['a@x.com', 'b@x.com'], 'up to the most');
  t.same(await normalized('a@x.com,b@x.com,c@x.com', 2), { bad: [], tooMany: true }, 'past the most');
  t.same(await normalized(','.repeat(4_000_000)), { bad: [], tooMany: false });
});

t.test('64 kB of hostile text is refused without searching it twice', async (t) => {
  for (const unit of ['a', 'a.', '.', '@', 'a@', '-', 'a-', 'xn--', 'ü', '\u00ad', ' ', '\u0308', 'a@a.']) {
    const hostile = unit.repeat(65_536 / unit.length);
    for (const text of [hostile, `a@${hostile}`, `${hostile}@example.com`, `a@${hostile}.com`, ` ${hostile} a`]) {
      t.equal(parseAddress(text), null);
    }
  }
  for (const unit of ['a.', 'a-', '-', 'ü.', 'xn--a.'])
    t.equal(parseAddress(`a@${unit.repeat(248 / unit.length)}!`), null);
});

const atom = fc.string({ unit: fc.constantFrom(..."abzAZ09!#$%&'*+/=?^_`{|}~-"), minLength: 1, maxLength: 8 });
const local = fc.array(atom, { minLength: 1, maxLength: 4 }).map((atoms) => atoms.join('.'));
const label = fc.string({ unit: fc.constantFrom(...'abcXYZ019üÜéñжЖ例'), minLength: 1, maxLength: 10 });
const domain = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => `${labels.join('.')}.Example`);
const address = fc.tuple(local, domain).map(([local, domain]) => `${local}@${domain}`);

t.test('property: the normalized form of an address is its own normalized form', async () => {
  fc.assert(
    fc.property(address, (text) => {
      const first = parseAddress(text);
      const again = parseAddress(first?.normalized ?? '');
      return again !== null && again.normalized === first?.normalized && again.address === again.normalized;
    }),
  );
});

t.test('property: addresses that differ only in case, white space or Unicode normalization are the same', async () => {
  fc.assert(
    fc.property(address, (text) => {
      const others = [
        text.toUpperCase(),
        text.toLowerCase(),
        ` ${text}\t`,
        text.normalize('NFD'),
        text.normalize('NFKC'),
      ];
      const normalized = parseAddress(text)?.normalized;
      return normalized !== undefined && others.every((other) => parseAddress(other)?.normalized === normalized);
    }),
  );
});

t.test('property: any text gives null or exactly one recipient that SMTP accepts', async () => {
  const near = fc.string({ unit: fc.constantFrom(...'aA1@.,;:<>()[]"\\ \t\r\n\0-_%ü。\u00ad\u200bxn'), maxLength: 20 });
  const text = fc.oneof(
    near,
    near.map((near) => `a@b${near}.com`),
    fc.string({ unit: 'binary' }),
    address,
  );
  fc.assert(
    fc.property(text, (text) => {
      const parsed = parseAddress(text);
      return (
        parsed === null ||
        (/^[!-~]{1,64}@[a-z0-9.-]+$/.test(parsed.normalized) &&
          !/[,;:<>()[\]"\\]/.test(parsed.normalized) &&
          parsed.normalized.length <= 254 &&
          parsed.normalized.endsWith(`@${parsed.domain}`) &&
          parsed.address === text.trim())
      );
    }),
    { numRuns: 5000 },
  );
});

t.test('property: a list of addresses is those addresses', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(address, { minLength: 1, maxLength: 20 }), async (texts) => {
      const list = await parseAddressList(texts.join(','), 20);
      const expected = new Set(texts.map((text) => parseAddress(text)?.normalized));
      return (
        'addresses' in list &&
        JSON.stringify(list.addresses.map((one) => one.normalized)) === JSON.stringify([...expected])
      );
    }),
  );
});
