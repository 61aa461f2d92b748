/** Lists of any length: whole, each row once, compressed where asked, and harmless however slowly they are read. */
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { startApp } from '../support/app.ts';

const ROWS = 4321;

/** Account one with many contacts of one type. */
async function crowded(t: Test, rows = ROWS) {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const now = '2026-01-01T00:00:00.000000Z';
  const user = Number(app.db.prepare('SELECT user_id FROM contact_types').pluck().get());
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})`;
  app.db.exec(`${numbers} INSERT INTO addresses (user_id, normalized_email) SELECT ${user}, 'p' || i || '@example.com' FROM n;
    INSERT INTO contacts (user_id, contact_type_id, address_id, email, first_name, created_at, updated_at)
    SELECT ${user}, (SELECT min(id) FROM contact_types), id, normalized_email, 'Zoë', '${now}', '${now}' FROM addresses`);
  return app;
}

const idsIn = (json: string): number[] =>
  JSON.parse(json).message.contacts.map((contact: { id: number }) => contact.id);

/** Asks for the list over a real socket and does not read on by itself. */
async function slowReader(app: Awaited<ReturnType<typeof crowded>>) {
  await app.fastify.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.fastify.server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  const headers = Object.entries(app.one.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET /api/contacts/list HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers.join('')}\r\n`);
  await once(socket, 'readable');
  return socket;
}

/** The body of a chunked answer. */
function bodyOf(answer: Buffer): string {
  const pieces: Buffer[] = [];
  let at = answer.indexOf('\r\n\r\n') + 4;
  for (;;) {
    const end = answer.indexOf('\r\n', at);
    const length = Number.parseInt(answer.toString('latin1', at, end), 16);
    if (!(length > 0)) return Buffer.concat(pieces).toString();
    pieces.push(answer.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
}

t.test('a list of many pages has every row once, in order', async (t) => {
  const { one } = await crowded(t);
  const { text: json } = await one.call('GET', '/contacts/list');
  const ids = idsIn(json);
  t.equal(ids.length, ROWS);
  t.strictSame(
    ids,
    [...new Set(ids)].sort((a, b) => a - b),
  );
});

t.test('limit and after_id cut across pages', async (t) => {
  const { one } = await crowded(t);
  const part = async (query: object) => idsIn((await one.call('GET', '/contacts/list', { query: { ...query } })).text);
  const all = await part({});
  t.strictSame(await part({ limit: 1000 }), all.slice(0, 1000));
  t.strictSame(await part({ limit: 2500, after_id: all[99] }), all.slice(100, 2600));
});

t.test('a client that takes gzip or brotli gets it, and the same list', async (t) => {
  const { one, fastify } = await crowded(t);
  const asked = (accepted?: string) =>
    fastify.inject({
      url: '/api/contacts/list',
      headers: { ...one.headers, ...(accepted && { 'accept-encoding': accepted }) },
    });
  const plain = await asked();
  t.equal(plain.headers['content-encoding'], undefined);
  t.equal(plain.headers.vary, 'Accept-Encoding');
  const gzip = await asked('gzip, deflate');
  t.equal(gzip.headers['content-encoding'], 'gzip');
  t.ok(gunzipSync(gzip.rawPayload).equals(plain.rawPayload));
  const brotli = await asked('gzip, br');
  t.equal(brotli.headers['content-encoding'], 'br');
  t.ok(brotliDecompressSync(brotli.rawPayload).equals(plain.rawPayload));
  t.equal((await asked('gzip;q=0, br;q=0')).headers['content-encoding'], undefined);
});

t.test('a short list is sent as it is', async (t) => {
  const { one, fastify } = await crowded(t, 3);
  const answer = await fastify.inject({
    url: '/api/contacts/list',
    headers: { ...one.headers, 'accept-encoding': 'gzip' },
  });
  t.equal(answer.headers['content-encoding'], undefined);
  t.equal(idsIn(answer.payload).length, 3);
});

t.test(
  'a reader that stops pins nothing: the log is written back whole, writes go on, each row comes once',
  async (t) => {
    const app = await crowded(t, 40_000);
    const socket = await slowReader(app);
    const kept = app.db.prepare<[], number>('SELECT id FROM contacts ORDER BY id').pluck().all();
    app.db.exec("UPDATE contacts SET first_name = 'Changed', updated_at = '2027-01-01T00:00:00.000000Z'");
    const { status } = await app.one.call('POST', '/contacts-type/add', { form: { name: 'More' } });
    t.equal(status, 200);
    const [{ busy }] = app.db.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
    t.equal(busy, 0, 'no read transaction is open');
    const list = bodyOf(await buffer(socket));
    t.strictSame(idsIn(list), kept);
    t.match(list, 'Zoë', 'what was sent before the change');
    t.match(list, 'Changed', 'most of it was read after the change: it was not gathered in memory');
  },
);

t.test('a reader that goes away ends the list', async (t) => {
  const app = await crowded(t, 40_000);
  (await slowReader(app)).destroy();
  const { status } = await app.one.call('GET', '/contacts/list', { query: { limit: 1 } });
  t.equal(status, 200);
});
