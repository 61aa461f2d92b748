/** What holds for every endpoint: keys first, the envelope always, bodies of any encoding, bounded input. */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import fc from 'fast-check';
import t from 'tap';
import { assembleFields, MALFORMED } from '../../src/http/form-fields.ts';
import { type CallOptions, type FilePart, startApp } from '../helper.ts';

const isEnvelope = (body: unknown): boolean => {
  const { status, message, errors } = Object(body);
  return status === 'success'
    ? (message === undefined) !== (errors === undefined)
    : status === 'failed' && errors !== undefined;
};

t.test('a key failure comes before any field error', async (t) => {
  const app = await startApp(t);
  const { status, body } = await app.anonymous.call('POST', '/contacts/add', { form: { contact_type_id: 'x' } });
  t.equal(status, 401);
  t.strictSame(body.errors, {
    PublicKey: ['The public key field is required.'],
    SecretKey: ['The secret key field is required.'],
  });
  const half = await app.anonymous.call('GET', '/contacts-type', { headers: { PublicKey: 'pk' } });
  t.strictSame(half.body.errors, { SecretKey: ['The secret key field is required.'] });
});

t.test('a wrong pair is answered the same whatever is wrong with it', async (t) => {
  const app = await startApp(t);
  const { PublicKey = '', SecretKey = '' } = app.one.headers;
  const pairs = [
    { PublicKey: 'pk_none', SecretKey },
    { PublicKey, SecretKey: 'sk_none' },
    { PublicKey, SecretKey: app.two.headers.SecretKey ?? '' },
  ];
  for (const headers of pairs) {
    const answer = await app.anonymous.call('GET', '/contacts-type', { headers });
    t.equal(answer.status, 401);
    t.equal(answer.text, '{"status":"failed","errors":"Invalid public key or secret key"}\n');
  }
});

t.test('the pair of the settings is account 1', async (t) => {
  const app = await startApp(t, { PUBLIC_KEY: 'pk_own_of_settings', SECRET_KEY: 'sk_own_of_settings' });
  const headers = { PublicKey: 'pk_own_of_settings', SecretKey: 'sk_own_of_settings' };
  const answer = await app.anonymous.call('POST', '/contacts-type/add', { form: { name: 'Mine' }, headers });
  t.equal(answer.status, 200);
  t.match(app.db.prepare('SELECT user_id FROM contact_types').get(), { user_id: 1 });
});

t.test('only a hash of a secret is stored', async (t) => {
  const app = await startApp(t);
  const secret = app.one.headers.SecretKey ?? 'missing';
  t.notOk(app.db.serialize().includes(secret));
});

t.test('every failure of the framework has the envelope', async (t) => {
  const app = await startApp(t);
  const headers = app.one.headers;
  const requests = {
    404: { method: 'GET', url: '/api/nothing' },
    400: {
      method: 'POST',
      url: '/api/contacts-type/add',
      payload: '{"name":',
      headers: { 'content-type': 'application/json' },
    },
    415: { method: 'POST', url: '/api/contacts-type/add', payload: '<a/>', headers: { 'content-type': 'text/xml' } },
    413: {
      method: 'POST',
      url: '/api/contacts-type/add',
      payload: `name=${'x'.repeat(5_000_000)}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    },
  } as const;
  for (const [status, request] of Object.entries(requests)) {
    const response = await app.fastify.inject({
      ...request,
      headers: { ...headers, ...('headers' in request && request.headers) },
    });
    t.equal(response.statusCode, Number(status));
    t.ok(isEnvelope(response.json()), `${status}: ${response.payload}`);
  }
  const malformed = await app.fastify.inject({ method: 'GET', url: '/api/%zz', headers });
  t.ok(isEnvelope(malformed.json()), malformed.payload);
});

t.test('every JSON answer is one line that ends, so that a terminal stays readable', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const answers = [
    await app.one.call('GET', '/contacts-type'),
    await app.one.call('GET', '/contacts-type', { headers: { 'accept-encoding': 'identity' }, query: { limit: 1 } }),
    await app.one.call('GET', '/contacts-type/view', { query: { contact_type_id: 1 } }),
    await app.one.call('GET', '/contacts-type/view', { query: { contact_type_id: 9 } }),
    await app.one.call('POST', '/contacts-type/add', { form: {} }),
    await app.one.call('GET', '/get/country-state-city'),
    await app.one.call('GET', '/nothing'),
    await app.one.call('GET', '/%zz'),
    await app.anonymous.call('GET', '/contacts-type'),
    await app.page('GET', '/healthz'),
    await app.page('GET', '/readyz'),
    await app.page('GET', '/docs/openapi.json'),
  ];
  for (const { text, headers } of answers) {
    t.equal(text.indexOf('\n'), text.length - 1, text.slice(0, 100));
    t.equal(Number(headers['content-length']), Buffer.byteLength(text));
  }
  const csv = await app.one.call('GET', '/contacts/csv-sample/download');
  t.notMatch(csv.text, /\n\n$/, 'what is no JSON is left as it is');
});

t.test('bytes that are no HTTP are answered with the envelope', async (t) => {
  const app = await startApp(t);
  await app.fastify.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((app.fastify.server.address() as AddressInfo).port, '127.0.0.1');
  socket.end('NOT HTTP AT ALL\r\n\r\n');
  const [answer]: Buffer[] = await once(socket, 'data');
  t.match(String(answer), /^HTTP\/1\.1 400 .*"status":"failed".*\n$/s);
});

t.test('STATUS_CODES=always-200 keeps the bodies', async (t) => {
  const app = await startApp(t, { STATUS_CODES: 'always-200' });
  const answers = [
    await app.anonymous.call('GET', '/contacts-type'),
    await app.one.call('GET', '/contacts-type/view', { query: { contact_type_id: 9 } }),
    await app.one.call('POST', '/contacts-type/add', { form: {} }),
    await app.one.call('GET', '/nothing'),
  ];
  for (const { status, body } of answers) {
    t.equal(status, 200);
    t.equal(body.status, 'failed');
  }
});

t.test('all faulty fields are named at once, references included', async (t) => {
  const app = await startApp(t);
  const { status, body } = await app.one.call('POST', '/contacts/add', {
    form: { contact_type_id: 77, email: 'no', country: 'x1' },
  });
  t.equal(status, 422);
  t.strictSame(body.errors, {
    email: ['The email must be a valid email address.'],
    country: ['The country must be an integer.'],
    contact_type_id: ['The selected contact type id is invalid.'],
  });
});

t.test('an address that is taken is named together with the other faulty fields of an update', async (t) => {
  const { one } = await startApp(t);
  await one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  for (const email of ['ann@example.org', 'bob@example.org']) {
    await one.call('POST', '/contacts/add', { form: { contact_type_id: 1, email, country: 1 } });
  }
  const form = { contact_id: 1, contact_type_id: 1, email: 'BOB@example.org', country: 9999 };
  const { status, body } = await one.call('POST', '/contacts/update', { form });
  t.equal(status, 422);
  t.strictSame(body.errors, {
    country: ['The selected country is invalid.'],
    email: ['The email has already been taken.'],
  });
  const own = await one.call('POST', '/contacts/update', { form: { ...form, email: 'Ann@example.org', country: 1 } });
  t.equal(own.status, 200);
});

t.test('a contact has every custom field, however many there are', async (t) => {
  const { one, db } = await startApp(t);
  await one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const define = (first: number, last: number) =>
    db.exec(`WITH RECURSIVE n(i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${last})
      INSERT INTO custom_fields (user_id, field_name, field_type, created_at, updated_at)
      SELECT user_id, 'shoe_size_' || i, 'text', created_at, updated_at FROM n, contact_types`);
  const read = async () => {
    const list = await one.call('GET', '/contacts/list');
    const { body } = await one.call('GET', '/contacts/details', { query: { contact_id: 1 } });
    const { custom_field } = body.message.contact;
    t.strictSame(list.body.message.contacts[0].custom_field, custom_field);
    return custom_field;
  };
  await one.call('POST', '/contacts/add', { form: { contact_type_id: 1, email: 'ann@example.org', country: 1 } });
  t.equal(await read(), null);
  define(1, 2);
  await one.call('POST', '/contacts/update', {
    form: {
      contact_id: 1,
      contact_type_id: 1,
      email: 'ann@example.org',
      country: 1,
      'custom_field[shoe_size_2]': '39',
    },
  });
  const expected = {
    shoe_size_1: { field_name: 'Shoe Size 1', field_value: null },
    shoe_size_2: { field_name: 'Shoe Size 2', field_value: '39' },
  };
  t.strictSame(await read(), expected);
  define(3, 1200);
  const all = await read();
  t.strictSame(
    Object.keys(all),
    Array.from({ length: 1200 }, (_, at) => `shoe_size_${at + 1}`),
  );
  t.match(all, expected);
});

t.test('a part that is marked as JSON and is none makes a malformed request', async (t) => {
  const { fastify, one } = await startApp(t);
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

t.test('what only the server sets can not be set from outside', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', {
    json: { name: 'Mine', user_id: 99, id: 500, contacts_count: 7, deleted_at: 'x' },
  });
  const { body } = await app.one.call('GET', '/contacts-type');
  t.match(body.message.contactTypes[0], { id: 1, contacts_count: 0, deleted_at: null });
  t.not(body.message.contactTypes[0].user_id, 99);
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

t.test('1 500 strIds are all handled, 10 001 refused, never a part', async (t) => {
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

t.test('hostile keys are field errors', async (t) => {
  const app = await startApp(t);
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

t.test('id=1&id=2 finds nothing, nor does anything but plain digits', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  for (const id of [
    '1&contact_type_id=1',
    '12abc',
    '1e0',
    '%201',
    '1%20',
    '0x1',
    '+1',
    '9007199254740993',
    '-1',
    '1.0',
    '',
  ]) {
    const { status, body } = await app.one.call('GET', `/contacts-type/view?contact_type_id=${id}`);
    t.equal(status, 404, id);
    t.equal(body.errors, 'Record Not Found');
  }
  t.equal(
    (await app.one.call('POST', '/contacts-type/update', { form: { id: ' 1', name: 'Other' } })).status,
    404,
    'in a body too',
  );
});

t.test('a form that is cut off or cannot be made out is malformed, not a failure of ours', async (t) => {
  const app = await startApp(t);
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

t.test('an object where a text belongs is answered like any other fault', async (t) => {
  const app = await startApp(t);
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
  const app = await startApp(t);
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

t.test('an address with a UTF-8 local part is refused wherever one is put in', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const bad = 'jürgen@example.org';
  for (const [path, field] of [
    ['/contacts/add', 'email'],
    ['/contacts/add', 'alt_email'],
    ['/sender/save', 'from_email'],
    ['/sender/save', 'reply_to_email'],
    ['/global-unsubscribes/save', 'email_address'],
    ['/bounces', 'address'],
  ] as const) {
    const { status, body } = await app.one.call('POST', path, { form: { [field]: bad } });
    t.equal(status, 422, path);
    t.match(body.errors[field]?.[0], /must be a valid email address/, `${path} ${field}`);
  }
  const rows = [`email\n${bad}\nann@example.org\n`];
  await app.one.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', '1'],
      ['file', { filename: 'a.csv', content: rows.join('') }],
    ],
  });
  t.strictSame(app.db.prepare('SELECT compared_email FROM addresses').pluck().all(), ['ann@example.org']);
});

t.test('control characters and line breaks stay out of header-bound fields', async (t) => {
  const app = await startApp(t);
  for (const bad of ['a\r\nBcc: x', 'a\nb', 'a\u0000b', 'a\u2028b', 'a\u2029b', 'a\u0085b']) {
    const { status, body } = await app.one.call('POST', '/contacts-type/add', { json: { name: `x${bad}x` } });
    t.equal(status, 422, encodeURI(bad));
    t.strictSame(body.errors, { name: ['The name may not contain line breaks or control characters.'] });
  }
});

t.test('HEAD acts on nothing', async (t) => {
  const app = await startApp(t);
  const { status } = await app.one.call('HEAD', '/automations/set-live');
  t.equal(status, 404);
});

t.test('lists page by limit and after_id, and stream whole without', async (t) => {
  const app = await startApp(t);
  const addresses = Array.from({ length: 2345 }, (_, at) => `r${at}@x.co`);
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: addresses.join(',') } });
  const all = await app.one.call('GET', '/global-unsubscribes');
  const ids: number[] = all.body.message.unSubscribers.map((entry: { id: number }) => entry.id);
  t.equal(ids.length, 2345);
  t.strictSame(
    ids,
    [...ids].sort((a, b) => a - b),
  );
  const page = await app.one.call('GET', '/global-unsubscribes', { query: { limit: 1500, after_id: ids[99] } });
  t.strictSame(
    page.body.message.unSubscribers.map((entry: { id: number }) => entry.id),
    ids.slice(100, 1600),
  );
  const wrong = await app.one.call('GET', '/global-unsubscribes', { query: { limit: 0 } });
  t.equal(wrong.status, 422);
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
