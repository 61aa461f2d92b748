/** Forms: every encoding means the same, and what is malformed, hostile or too large is refused. */

import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import t from 'tap';
import { assembleFields, MALFORMED, readUrlencoded } from '../../src/http/requests/form-fields.ts';
import { isEnvelope } from '../support/answered.ts';
import { type CallOptions, type FilePart, startApp } from '../support/app.ts';

/** For the tests whose requests are refused, and those that no other test sees anything of. */
const app = await startApp(t);

t.test('a part that is marked as JSON but is not JSON makes the request malformed', async (t) => {
  const { fastify, one } = app;
  const response = await fastify.inject({
    method: 'POST',
    url: '/api/contacts-type/add',
    headers: { ...one.headers, 'content-type': 'multipart/form-data; boundary=b' },
    payload:
      '--b\r\nContent-Disposition: form-data; name="name"\r\nContent-Type: application/json\r\n\r\n{"\r\n--b--\r\n',
  });
  t.equal(response.statusCode, 400);
  t.strictSame(response.json(), { status: 'failed', errors: 'Malformed Request' });
});

t.test('texts are trimmed, an empty one counts as missing', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: '  Readers \t' } });
  const { body } = await app.one.call('GET', '/contacts-type');
  t.equal(body.message.contactTypes[0].name, 'Readers');
  const empty = await app.one.call('POST', '/contacts-type/add', { form: { name: '   ' } });
  t.strictSame(empty.body.errors, { name: ['The name field is required.'] });
});

t.test('arrays in every form give the same', async (t) => {
  const app = await startApp(t);
  const form = async (options: object) => {
    await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'a@x.co,b@x.co' } });
    const { body } = await app.one.call('GET', '/global-unsubscribes');
    const ids: number[] = body.message.unSubscribers.map((entry: { id: number }) => entry.id);
    const fill = JSON.parse(JSON.stringify(options).replaceAll('"A"', `"${ids[0]}"`).replaceAll('"B"', `"${ids[1]}"`));
    return (await app.one.call('POST', '/global-unsubscribes/bulk-delete', fill)).status;
  };
  t.equal(
    await form({
      form: [
        ['strIds[0]', 'A'],
        ['strIds[1]', 'B'],
      ],
    }),
    200,
    'indexed',
  );
  t.equal(
    await form({
      form: [
        ['strIds[]', 'A'],
        ['strIds[]', 'B'],
      ],
    }),
    200,
    'appended',
  );
  t.equal(
    await form({
      form: [
        ['strIds', 'A'],
        ['strIds', 'B'],
      ],
    }),
    200,
    'repeated',
  );
  t.equal(await form({ json: { strIds: ['A', 'B'] } }), 200, 'JSON');
  t.equal(
    await form({
      multipart: [
        ['strIds[1]', 'B'],
        ['strIds[0]', 'A'],
      ],
    }),
    200,
    'multipart, out of order',
  );
});

t.test('1 500 strIds are all handled and 10 001 are refused, never only some of them', async (t) => {
  const app = await startApp(t);
  const many = (count: number) => Array.from({ length: count }, (_, at) => `r${at}@x.co`);
  const save = await app.one.call('POST', '/global-unsubscribes/save', {
    form: { email_address: many(3000).join(',') },
  });
  t.equal(save.status, 200);
  const { body } = await app.one.call('GET', '/global-unsubscribes');
  const ids: string[] = body.message.unSubscribers.map((entry: { id: number }) => String(entry.id));
  t.equal(ids.length, 3000);
  for (const encoding of ['form', 'multipart'] as const) {
    const strIds = ids.splice(0, 1500);
    const options =
      encoding === 'form'
        ? { form: { strIds } }
        : { multipart: strIds.map((id, at): [string, string] => [`strIds[${at}]`, id]) };
    t.equal((await app.one.call('POST', '/global-unsubscribes/bulk-delete', options)).status, 200);
  }
  t.equal((await app.one.call('GET', '/global-unsubscribes')).body.message.unSubscribers.length, 0);
  const tooMany = await app.one.call('POST', '/global-unsubscribes/bulk-delete', { form: { strIds: many(10_001) } });
  t.strictSame(tooMany.body.errors, { strIds: ['The str ids may not have more than 10000 items.'] });
});

t.test('objects within a list or an object are read from JSON only, and a form that has them is told so', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const path = '/contacts/upsert';
  const contact = { email: 'zoe@example.org', first_name: 'Zoë', country: 'Austria' };
  const pairs = Object.entries(contact).map(([name, value]): [string, string] => [`contacts[0][${name}]`, value]);
  const errors = { contacts: ['Send the contacts as JSON: a form cannot contain nested objects.'] };
  for (const encoding of ['form', 'multipart'] as const) {
    const { status, body } = await app.one.call('POST', path, { [encoding]: [['contact_type_id', '1'], ...pairs] });
    t.strictSame([status, body.errors], [422, errors], encoding);
  }
  t.match(await app.one.call('POST', path, { json: { contact_type_id: 1, contacts: [contact] } }), {
    body: { message: { created: 1 } },
  });
});

t.test('hostile keys are field errors', async (t) => {
  const keys = [
    'strIds[999999999]',
    'strIds[0][1]',
    'strIds[0',
    'strIds]0[',
    '__proto__[x]',
    'constructor[prototype]',
    'strIds[__proto__]',
  ];
  for (const key of keys) {
    const { status, body } = await app.one.call('POST', '/contacts/bulk-delete', { form: [[key, '1']] });
    t.equal(status, 422, key);
    t.ok(isEnvelope(body));
  }
  const sparse = await app.one.call('POST', '/contacts/bulk-delete', {
    form: [
      ['strIds[0]', '1'],
      ['strIds[2]', '2'],
    ],
  });
  t.strictSame(sparse.body.errors, { strIds: ['The str ids must be an array.'] });
  const twice = await app.one.call('POST', '/contacts/bulk-delete', {
    form: [
      ['strIds[0]', '1'],
      ['strIds[0]', '2'],
    ],
  });
  t.equal(twice.status, 422);
  const repeated = await app.one.call('POST', '/contacts-type/add', {
    form: [
      ['name', 'One'],
      ['name', 'Two'],
    ],
  });
  t.strictSame(repeated.body.errors, { name: ['The name must be a string.'] });
  const file = await app.one.call('POST', '/contacts-type/add', {
    multipart: [['name', { filename: 'a.txt', content: 'Readers' }]],
  });
  t.strictSame(file.body.errors, {
    name: ['The selected name is invalid.', 'The name field is required.'].slice(0, 2).reverse(),
  });
  t.equal(Object.hasOwn(Object.prototype, 'x'), false, 'no prototype is touched');
});

t.test('a form that is cut off or cannot be made out is malformed, not a failure of ours', async (t) => {
  const name = '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nReaders';
  const file = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail';
  for (const path of ['/contacts-type/add', '/contacts/upload-csv']) {
    for (const payload of [name, file, `${name}\r\n${file}`, '--b\r\nno header\r\n\r\n', '--b']) {
      const headers = { ...app.one.headers, 'content-type': 'multipart/form-data; boundary=b' };
      const response = await app.fastify.inject({ method: 'POST', url: `/api${path}`, headers, payload });
      t.strictSame(response.json(), { status: 'failed', errors: 'Malformed Request' }, `${path} ${payload}`);
      t.equal(response.statusCode, 400);
    }
  }
});

t.test('a form with a part that nobody can use is answered, however large the part', async (t) => {
  const app = await startApp(t);
  await app.fastify.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.fastify.server.address() as AddressInfo;
  const heads = ['X: y', 'Content-Disposition: attachment', 'Content-Disposition: form-data; name="a\nb"', ''];
  for (const path of ['/contacts-type/add', '/contacts/upload-csv']) {
    for (const head of heads) {
      const parts = [
        `${head}\r\n\r\n${'x'.repeat(3_500_000)}`,
        'Content-Disposition: form-data; name="name"\r\n\r\nReaders',
      ];
      const response = await fetch(`http://127.0.0.1:${port}/api${path}`, {
        method: 'POST',
        headers: { ...app.one.headers, 'content-type': 'multipart/form-data; boundary=b' },
        body: `${parts.map((part) => `--b\r\n${part}\r\n`).join('')}--b--\r\n`,
      });
      t.ok(isEnvelope(await response.json()), `${path} ${head}`);
    }
  }
});

t.test('the fields beside a file are few and short, because they are kept in memory', async (t) => {
  const file: [string, { filename: string; content: string }] = ['file', { filename: 'a.csv', content: 'email\n' }];
  const many = Array.from({ length: 101 }, (_, at): [string, string] => [`field${at}`, 'x']);
  for (const fields of [many, [['name', 'x'.repeat(20_000)]] satisfies [string, string][]]) {
    const { status, body } = await app.one.call('POST', '/contacts/upload-csv', { multipart: [...fields, file] });
    t.equal(status, 413);
    t.strictSame(body, { status: 'failed', errors: 'Payload Too Large' });
  }
});

t.test('an object where a text belongs is answered like any other fault', async (t) => {
  const keyed = await app.one.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id[a]', '1'],
      ['file', { filename: 'a.csv', content: 'email\n' }],
    ],
  });
  t.strictSame(keyed.body.errors, { contact_type_id: ['The contact type id must be an integer.'] });
  for (const path of ['/single/send/bulk-delete', '/automations/bulk-delete']) {
    const { status } = await app.one.call('POST', path, { json: { strIds: [{ toString: 1 }] } });
    t.equal(status, 404, path);
  }
  const headers = { ...app.one.headers, 'content-type': 'multipart/form-data; boundary=b' };
  const payload =
    '--b\r\nContent-Disposition: form-data; name="name"\r\nContent-Type: application/json\r\n\r\n{"toString":1}\r\n--b--\r\n';
  const marked = await app.fastify.inject({ method: 'POST', url: '/api/contacts-type/add', headers, payload });
  t.equal(marked.statusCode, 200, 'a field marked as JSON is its text');
});

t.test('a form of many small parts is bounded by its raw bytes', async (t) => {
  const parts = Array.from({ length: 19_000 }, (_, at): [string, string] => [`field${at}`, 'x'.repeat(200)]);
  const { status, body } = await app.one.call('POST', '/contacts-type/add', {
    multipart: [['name', 'Readers'], ...parts],
  });
  t.equal(status, 413);
  t.ok(isEnvelope(body));
});

t.test('parts and files are counted, and a field at its limit is an error, never cut', async (t) => {
  const app = await startApp(t);
  const many = Array.from({ length: 20_001 }, (_, at): [string, string] => [`f${at}`, '']);
  const file = (name: string): [string, FilePart] => [name, { filename: 'a.txt', content: 'x' }];
  for (const parts of [many, [file('a'), file('b')]]) {
    const { status, body } = await app.one.call('POST', '/contacts-type/add', {
      multipart: [...parts, ['name', 'Readers']],
    });
    t.equal(status, 413);
    t.ok(isEnvelope(body));
  }
  const code = 'x'.repeat(2 * 1024 * 1024 + 1);
  for (const body of [{ form: { template_html: code } }, { multipart: [['template_html', code]] }] as CallOptions[]) {
    const { errors } = (await app.one.call('POST', '/single/send/create', body)).body;
    t.strictSame(errors.template_html, ['The template html may not be greater than 2097152 characters.']);
  }
  t.strictSame((await app.one.call('GET', '/contacts-type')).body.message.contactTypes, []);
});

t.test('assembling fields: no pair is lost or invented, whatever the keys', async (t) => {
  const key = fc.oneof(
    fc.constantFrom('a', 'b', 'a[]', 'a[0]', 'a[1]', 'b[x]', 'a[0][1]', '__proto__', 'a[', ']'),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.string())), (pairs) => {
      const body = assembleFields(pairs);
      const kept = Object.values(body).flatMap((value) => (typeof value === 'object' ? Object.values(value) : [value]));
      const values = pairs.map(([, value]) => value);
      for (const value of kept) {
        const at = values.indexOf(value);
        if (at < 0) throw new Error(`invented ${JSON.stringify(value)}`);
        values.splice(at, 1);
      }
      if (values.length > 0 && body[MALFORMED] === undefined) throw new Error(`lost ${JSON.stringify(values)}`);
    }),
  );
  t.pass();
});

t.test('JSON that is nested very deeply is refused in every way it can be sent', async (t) => {
  const { fastify, one } = app;
  const depth = 200_000;
  const lists = '['.repeat(depth) + ']'.repeat(depth);
  const objects = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  for (const json of [lists, objects, `{"name":${lists}}`, `{"name":${objects}}`]) {
    const send = (contentType: string, payload: string) =>
      fastify.inject({
        method: 'POST',
        url: '/api/contacts-type/add',
        headers: { ...one.headers, 'content-type': contentType },
        payload,
      });
    t.equal((await send('application/json', json)).statusCode, 413);
    const part = 'Content-Disposition: form-data; name="name"\r\nContent-Type: application/json';
    const answer = await send('multipart/form-data; boundary=b', `--b\r\n${part}\r\n\r\n${json}\r\n--b--\r\n`);
    t.equal(answer.statusCode, 400, answer.body);
  }
});

t.test('a long value is decoded in parts, between which others are answered, and no character is cut', async (t) => {
  const runsOf = (...pieces: string[]) =>
    fc.array(fc.tuple(fc.constantFrom(...pieces), fc.integer({ min: 1, max: 40_000 })), {
      minLength: 20,
      maxLength: 40,
    });
  const long = fc.oneof(
    runsOf('a', '+', '%3C', '%C3%A9', 'é', '%F0%9F%98%80', '😀', '=', '?'),
    runsOf('a', '+', '%', '%4', '%%41', '%ff', '%C3', '%A9', '%C3%A9'),
  );
  await fc.assert(
    fc.asyncProperty(long, async (runs) => {
      const body = `x=1&html=${runs.map(([piece, times]) => piece.repeat(times)).join('')}&y=2`;
      const expected = Object.fromEntries(new URLSearchParams(body));
      let turns = 0;
      const count = () => {
        turns++;
        next = setImmediate(count);
      };
      let next = setImmediate(count);
      const read = { ...(await readUrlencoded(body, 10)) };
      clearImmediate(next);
      t.strictSame(read, expected);
      // What belongs to the character before it is read with that.
      if (!runs.some(([piece]) => /^%(?:A9)?$/.test(piece)))
        t.ok(turns >= Math.floor(body.length / 400_000), `${turns}`);
    }),
    { numRuns: 20 },
  );
});
