/**
 * The built service as a process beside others: it stops in time whoever holds on to it, and lives with a database that
 * another process has locked.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { builtUrls } from '../../src/http/static-files.ts';
import { Service, startSink } from '../support/service.ts';
import { startCampaign, until } from '../support/service-campaign.ts';

const KEYS = 'PublicKey: pk_test_of_sendlark\r\nSecretKey: sk_test_of_sendlark\r\n';

async function opened(t: Test, service: Service): Promise<Socket> {
  const { hostname, port } = new URL(service.origin);
  const socket = connect(Number(port), hostname);
  t.teardown(() => socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Takes the write lock of the service's database from this process; the function gives it back. */
function lockedOut(t: Test, service: Service): () => void {
  const client = new Database(join(service.folder, 'test.db'));
  t.teardown(() => client.close());
  client.exec('BEGIN IMMEDIATE');
  return () => client.exec('ROLLBACK');
}

const call = (service: Service, path: string, init: RequestInit = {}) =>
  fetch(`${service.origin}${path}`, {
    ...init,
    headers: { PublicKey: 'pk_test_of_sendlark', SecretKey: 'sk_test_of_sendlark' },
  });

/** Ways to hold on to the service. None lets go by itself: the keep-alive connection would end after 72 seconds, the others never. */
const HOLDERS: Record<string, (t: Test, service: Service) => Promise<unknown>> = {
  'a keep-alive connection with a request under way': async (t, service) => {
    const socket = await opened(t, service);
    socket.write(`GET /api/contacts-type HTTP/1.1\r\nHost: x\r\n${KEYS}\r\nGET /api/contacts-type HTTP/1.1\r\n`);
    await once(socket, 'data');
  },
  'a reader that has stopped': async (t, service) => {
    const socket = await opened(t, service);
    socket.pause();
    for (let at = 0; at < 40; at++) socket.write(`GET ${builtUrls('grapes.js').url} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await setTimeout(200);
  },
  'an upload that trickles': async (t, service) => {
    const socket = await opened(t, service);
    socket.write(
      `POST /api/contacts/upload-csv HTTP/1.1\r\nHost: x\r\n${KEYS}Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n`,
    );
    await once(socket, 'data');
    socket.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail\n');
    const trickle = setInterval(() => socket.write('a'), 50);
    t.teardown(() => clearInterval(trickle));
  },
  'an unfinished request without keys': async (t, service) => {
    const socket = await opened(t, service);
    socket.write('POST /api/contacts-type/add HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n');
    await once(socket, 'data');
  },
};

t.test(
  `a stop ends within SHUTDOWN_SECONDS in spite of ${Object.keys(HOLDERS).join(', ')}`,
  { timeout: 40_000 },
  async (t) => {
    const service = new Service(t, { SHUTDOWN_SECONDS: '1' });
    await service.start();
    for (const hold of Object.values(HOLDERS)) await hold(t, service);
    t.equal(await service.end('SIGTERM'), 0);
  },
);

t.test(
  'a stop ends within SHUTDOWN_SECONDS while another process holds the write lock',
  { timeout: 40_000 },
  async (t) => {
    const service = new Service(t, { SHUTDOWN_SECONDS: '1' });
    await service.start();
    const release = lockedOut(t, service);
    const waiting = call(service, '/api/contacts-type/add', {
      method: 'POST',
      body: new URLSearchParams({ name: 'Readers' }),
    }).then(
      ({ status }) => status,
      () => 'closed',
    );
    await call(service, '/healthz');
    t.equal(await service.end('SIGTERM'), 0);
    t.not(await waiting, 200);
    release();
  },
);

// The service of the tests below, of which the first adds the list “Readers”.
const sink = await startSink(t);
const service = new Service(t, { SMTP_URL: sink.url, SENDER_VERIFICATION: 'optional' });
await service.start();

t.test(
  'a one-click waits for the lock, is answered once it is on disk, and is kept when nobody waits',
  { timeout: 90_000 },
  async (t) => {
    const counters = await startCampaign(service, 2);
    await until(counters, ({ status }) => status === 3);
    const links = sink.mails
      .filter(({ to }) => to !== 'hello@example.com')
      .map(({ raw }) => /List-Unsubscribe: <(.+)>/.exec(String(raw))?.[1] ?? '')
      .map((link) => `${service.origin}${new URL(link).pathname}`);
    const [link = '', other = ''] = links;
    const release = lockedOut(t, service);
    let isAnswered = false;
    const click = fetch(link, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) }).then(
      (response) => {
        isAnswered = true;
        return response.status;
      },
    );
    const hasty = new AbortController();
    const gone = fetch(other, { method: 'POST', body: new URLSearchParams(), signal: hasty.signal }).catch(
      () => 'gone',
    );
    const refused = await call(service, '/api/contacts-type/add', {
      method: 'POST',
      body: new URLSearchParams({ name: 'x2' }),
    });
    t.equal(refused.status, 503, 'other writes are refused meanwhile');
    t.equal((await fetch(link)).status, 200, 'the page opens');
    t.equal(isAnswered, false);
    hasty.abort();
    t.equal(await gone, 'gone');
    release();
    t.equal(await click, 200);
    await until(counters, ({ unsubscribes }) => unsubscribes === 2);
    const { message } = await service.get('/unsubscribes-groups/recipients-list?groupId=1');
    t.equal(
      (message as { recipients: unknown[] }).recipients.length,
      2,
      'who did not wait for the answer has left as well',
    );
  },
);

t.test('while another process holds the write lock, reading goes on and writing is answered 503', async (t) => {
  const release = lockedOut(t, service);
  const form = (fields: Record<string, string>) => ({ method: 'POST', body: new URLSearchParams(fields) });
  const csv = new FormData();
  csv.set('contact_type_id', '1');
  csv.set('file', new File(['email\nann@example.org\n'], 'a.csv'));
  const writes = [
    call(service, '/api/contacts-type/add', form({ name: 'More' })),
    call(service, '/api/contacts/add', form({ contact_type_id: '1', email: 'bo@example.org', country: '1' })),
    call(service, '/api/contacts-type/delete?contact_type_id=1', { method: 'DELETE' }),
    call(service, '/api/global-unsubscribes/save', form({ email_address: 'bo@example.org' })),
    call(service, '/api/contacts/upload-csv', { method: 'POST', body: csv }),
  ];
  for (const path of ['/healthz', '/metrics', '/api/contacts-type', '/api/contacts/list', '/docs']) {
    t.equal((await call(service, path)).status, 200, path);
  }
  for (const response of await Promise.all(writes)) {
    t.equal(response.status, 503);
    t.equal(response.headers.get('retry-after'), '1');
    t.match(await response.json(), {
      status: 'failed',
      errors: 'This is not possible at the moment, try again in a moment',
    });
  }
  t.equal((await call(service, '/readyz')).status, 503);
  release();
  const { message } = await service.get('/contacts-type');
  t.match(message, { contactTypes: [{ name: 'Readers' }] }, 'what was refused was not done');
  await service.post('/contacts-type/add', { name: 'More' });
});

t.test('a write that meets a lock for a moment waits for it and is done once', async (t) => {
  const release = lockedOut(t, service);
  const names = Array.from({ length: 20 }, (_, at) => `Type ${at}`);
  const writes = names.map((name) => service.post('/contacts-type/add', { name }));
  await call(service, '/healthz');
  release();
  await Promise.all(writes);
  const { message } = await service.get('/contacts-type');
  const { contactTypes } = message as { contactTypes: { name: string }[] };
  const made = contactTypes.map(({ name }) => name).filter((name) => name.startsWith('Type '));
  t.strictSame(made.sort(), names.sort());
});
