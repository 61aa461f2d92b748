/** DKIM signatures, checked by a verifier written here from the RFC with node:crypto, and by mailauth. */
import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import fc from 'fast-check';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import t from 'tap';
import { buildContent } from '../../../src/delivery/mime/build.ts';
import { createDkimKey, createSigner, dnsRecord, type KeyType } from '../../../src/delivery/mime/dkim.ts';
import { prepare, render } from '../../../src/delivery/mime/message.ts';

const types: KeyType[] = ['rsa', 'ed25519'];
const keys = { rsa: createDkimKey('rsa'), ed25519: createDkimKey('ed25519') };
const date = new Date('2026-03-01T08:09:10Z');
const signer = (type: KeyType) => createSigner('example.com', `s-${type}`, keys[type]);

async function campaignMessage(): Promise<Buffer> {
  const content = await buildContent({
    template_json: null,
    template_html: '<p>Grüße, ((first_name))</p><pre>  two   blanks  </pre>',
    subject: 'News 🎉 for ((first_name)) that is long enough to be folded over more than one single line',
    preheader: '',
    tracking: true,
    footer: true,
  });
  const prepared = prepare(content, {
    from: { name: 'Example', address: 'news@example.com' },
    replyTo: 'reply@example.com',
    constants: { sender_name: 'Example', sender_address: 'Street 1' },
    bulk: { listId: 'g.example.com', feedbackId: '1:2:3:sendlark' },
  });
  const page = 'https://mail.example.com/';
  const mail = render(prepared, {
    address: 'jane@example.net',
    name: 'Jane',
    values: { first_name: 'Zoë' },
    messageId: '1@mail.example.com',
    date,
    urls: { preferences: page, oneClick: page, webCopy: page, open: page, click: page },
  });
  return mail.bytes;
}

/** Returns true if a signature field is valid for the message after it, by RFC 6376 §3.4 and §3.7. */
function verified(field: string, message: string, privateKey: string): boolean {
  const tags = new Map<string, string>();
  for (const tag of field.slice('DKIM-Signature:'.length).split(';')) {
    const at = tag.indexOf('=');
    tags.set(tag.slice(0, at).trim(), tag.slice(at + 1).replace(/\s/g, ''));
  }
  const split = message.indexOf('\r\n\r\n');
  const lines = message
    .slice(split + 4)
    .split('\r\n')
    .map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''));
  while (lines.at(-1) === '') lines.pop();
  const body = lines.map((line) => `${line}\r\n`).join('');
  const hash = createHash('sha256').update(body, 'latin1').digest('base64');

  const relaxed = (text: string) => {
    const at = text.indexOf(':');
    const value = text
      .slice(at + 1)
      .replace(/\r\n/g, '')
      .replace(/[ \t]+/g, ' ')
      .trim();
    return `${text.slice(0, at).trim().toLowerCase()}:${value}`;
  };
  const fields = message.slice(0, split).split(/\r\n(?![ \t])/);
  let data = '';
  for (const name of (tags.get('h') ?? '').split(':')) {
    const last = fields.findLastIndex((candidate) => relaxed(candidate).startsWith(`${name.toLowerCase()}:`));
    if (last >= 0) data += `${relaxed(fields.splice(last, 1)[0] ?? '')}\r\n`;
  }
  data += relaxed(field.trimEnd().replace(/(\bb=)[^;]*$/, '$1'));
  const signature = Buffer.from(tags.get('b') ?? '', 'base64');
  const ed25519 = tags.get('a') === 'ed25519-sha256';
  const signed = ed25519 ? createHash('sha256').update(data).digest() : Buffer.from(data, 'latin1');
  return tags.get('bh') === hash && verify(ed25519 ? null : 'sha256', signed, createPublicKey(privateKey), signature);
}

/** The result of mailauth for a message, with our own records instead of the DNS. */
async function independently(message: string): Promise<string | undefined> {
  const records = new Map(
    types.map((type) => dnsRecord('example.com', `s-${type}`, keys[type])).map(({ name, value }) => [name, value]),
  );
  const resolver = async (name: string, type: string) => {
    const value = records.get(name);
    if (type !== 'TXT' || !value) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    return [[value]];
  };
  const { results } = await dkimVerify(Buffer.from(message, 'latin1'), { resolver });
  return results[0]?.status.result;
}

for (const type of types) {
  t.test(`an independent verifier accepts a campaign mail signed with ${type}`, async (t) => {
    const message = await campaignMessage();
    const wire = message.toString('latin1');
    const field = signer(type).sign(message, date);
    t.equal(await independently(field + wire), 'pass');
    t.ok(verified(field, wire, keys[type]));
    const aside = await signer(type).signInThreadPool(message, date);
    t.equal(aside, field, 'whichever way it is made');
    t.ok(field.split('\r\n').every((line) => line.length <= 78));

    const altered: [string, string][] = [
      ['Zo=C3=AB', 'Zo=C3=AC'],
      ['Subject: ', 'Subject: x'],
      ['\r\nTo: Jane', '\r\nTo: John'],
      ['List-Unsubscribe: <https', 'List-Unsubscribe: <http'],
      ['List-Unsubscribe=One-Click', 'List-Unsubscribe=Two-Click'],
      ['reply@example.com', 'evil@example.com'],
      ['Message-ID: <1', 'Message-ID: <2'],
      ['08:09:10', '08:09:11'],
      ['\r\nMIME-Version', '\r\nFrom: evil@example.com\r\nMIME-Version'],
      ['\r\nMIME-Version', '\r\nSubject: evil\r\nMIME-Version'],
    ];
    for (const [from, to] of altered) {
      const forged = wire.replace(from, () => to);
      t.not(forged, wire);
      t.not(await independently(field + forged), 'pass', `${from} → ${to}`);
      t.not(verified(field, forged, keys[type]), true);
    }
  });
}

t.test('the signature covers what mail programs act on, and From once more than it occurs', async (t) => {
  const field = signer('ed25519').sign(await campaignMessage(), date);
  const names = /h=([^;]*);/.exec(field.replace(/\s/g, ''))?.[1]?.split(':') ?? [];
  for (const name of [
    'from',
    'subject',
    'to',
    'date',
    'message-id',
    'reply-to',
    'list-unsubscribe',
    'list-unsubscribe-post',
    'mime-version',
    'content-type',
    'feedback-id',
  ])
    t.ok(names.includes(name), name);
  t.equal(names.filter((name) => name === 'from').length, 2);
  t.notMatch(field, /\bl=/, 'nothing can be appended');
  t.match(field, `t=${date.getTime() / 1000};`);
});

t.test('any message is signed as its relaxed canonical form', async (t) => {
  const piece = fc.constantFrom(' ', '  ', '\t', '\r\n', '\r\n', 'a', 'b:', 'é', '.', '\r\n \t');
  const body = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''));
  const value = fc
    .array(fc.constantFrom(' ', '\t', 'x', ':', '\r\n '), { maxLength: 8 })
    .map((pieces) => `v${pieces.join('')}w`);
  await fc.assert(
    fc.property(body, value, fc.constantFrom(...types), (body, value, type) => {
      const wire = `from:${value}\r\nX-Other: y\r\nSUBJECT \t: ${value}\r\nTo: a\r\nTo: b\r\n\r\n${body}`;
      const message = Buffer.from(wire, 'latin1');
      return verified(signer(type).sign(message, date), wire, keys[type]);
    }),
  );
  const wire = 'From: a@example.com\r\nSubject:  two\t words \r\nDate: x\r\n\r\nbody  with \t blanks \r\n\r\n\r\n';
  t.equal(await independently(signer('rsa').sign(Buffer.from(wire), date) + wire), 'pass');
});

t.test('the DNS record is what verifiers look up', async (t) => {
  const rsa = dnsRecord('example.com', 'one', keys.rsa);
  t.equal(rsa.name, 'one._domainkey.example.com');
  t.match(rsa.value, /^v=DKIM1; k=rsa; p=MIIB[\w+/]+={0,2}$/);
  t.match(rsa.zone, /^one\._domainkey\.example\.com\. IN TXT \( ("[^"]{1,255}" ?)+\)$/);
  t.equal([...rsa.zone.matchAll(/"([^"]*)"/g)].map((match) => match[1]).join(''), rsa.value);
  const ed25519 = dnsRecord('example.com', 'two', keys.ed25519);
  t.match(ed25519.value, /^v=DKIM1; k=ed25519; p=[\w+/]{43}=$/);
});

t.test('weak keys and keys of another type are refused', async (t) => {
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  for (const key of [weak, other]) {
    t.throws(
      () => createSigner('example.com', 's', key.export({ type: 'pkcs8', format: 'pem' }).toString()),
      TypeError,
    );
  }
  t.throws(() => createSigner('example.com', 's', 'not a key'));
});
