/** Restoring in the dashboard, on the real program: it starts again by itself on the backup, and a kill loses nothing. */
import { readdirSync } from 'node:fs';
import { connect as connectTo } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { parseAddress } from '../../../src/audience/contacts/addresses.ts';
import { connect } from '../../../src/database/open.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { COMMAND_LINE } from '../../../src/users/audit.ts';
import { createSession } from '../../../src/users/sessions.ts';
import { addUser, findUserByEmail } from '../../../src/users/users.ts';
import { FROM_PAGE } from '../../support/people.ts';
import { Service } from '../../support/service.ts';
import { until } from '../../support/service-campaign.ts';

async function started(t: Test) {
  const service = new Service(t, {});
  await service.start();
  const path = join(service.folder, 'test.db');
  await service.post('/contacts-type/add', { name: 'Readers' });
  await service.upload(1, 'email\nann@example.org\nbob@example.org');
  const cookie = signIn(path);
  const ask = (url: string, init: RequestInit = {}) =>
    fetch(service.origin + url, {
      redirect: 'manual',
      ...init,
      headers: { cookie, ...FROM_PAGE, ...(init.headers as Record<string, string>) },
    });
  const upload = async (bytes: ArrayBuffer) => {
    const body = new FormData();
    body.set('file', new File([bytes], 'backup.db'));
    const answer = Object(await (await ask('/api/backups/upload', { method: 'POST', body })).json());
    return String(answer.message?.restore?.upload_id);
  };
  const confirm = (upload_id: string) =>
    ask('/settings/backup/restore', { method: 'POST', body: new URLSearchParams({ upload_id }) });
  /** The addresses of all people and why sending is held, read from the file. */
  const content = () => {
    const client = new Database(path, { readonly: true });
    const emails = client.prepare('SELECT email FROM contacts ORDER BY id').pluck().all();
    const held = client.prepare("SELECT value FROM installation WHERE name = 'sending_held'").pluck().get();
    client.close();
    return { emails, isHeld: held !== undefined };
  };
  const beside = () =>
    readdirSync(service.folder).filter((name) => !/^test\.db(-wal|-shm|-lock(-journal)?)?$/.test(name));
  /** Confirms through the API, and hangs up as soon as it has asked. */
  const confirmAndHangUp = (upload_id: string) => {
    const { port, host } = new URL(service.origin);
    const body = `upload_id=${upload_id}`;
    const headers = { host, cookie, ...FROM_PAGE, 'content-length': body.length };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const type = 'content-type: application/x-www-form-urlencoded\r\n';
    const socket = connectTo(Number(port), '127.0.0.1');
    socket.end(`POST /api/backups/restore HTTP/1.1\r\n${lines.join('')}${type}\r\n${body}`, () => socket.destroy());
  };
  return { service, path, ask, upload, confirm, confirmAndHangUp, content, beside };
}

/** The cookie of an operator. */
function signIn(path: string): string {
  const db = connect(path);
  const address = parseAddress('ada@example.org');
  if (address === null) throw new Error('no address');
  const given = { accountId: 1, address, name: 'Ada', role: 'owner' as const, passwordHash: 'scrypt$4$8$1$AA$AA' };
  const now = systemClock.now();
  const user = findUserByEmail(db, address) ?? addUser(db, given, COMMAND_LINE, now);
  const secret = createSession(db, user.id, { address: '127.0.0.1', userAgent: 'Test' }, now);
  db.$client.close();
  return `sendlark=${secret}`;
}

t.test(
  'after a confirmed restore the same process serves the backup, held, with the same people and links',
  async (t) => {
    const { service, ask, upload, confirm, content, beside } = await started(t);
    const bytes = await (await ask('/settings/backup/file')).arrayBuffer();
    await service.upload(1, 'email\ncleo@example.org');
    const answer = await confirm(await upload(bytes));
    t.equal(answer.status, 200);
    t.match(await answer.text(), 'The backup is being restored');
    await until(
      () =>
        fetch(`${service.origin}/readyz`).then(
          (ready) => ready.json(),
          () => null,
        ),
      (ready) => /Restored from a backup/.test(JSON.stringify(ready)),
    );
    t.strictSame(content(), { emails: ['ann@example.org', 'bob@example.org'], isHeld: true });
    const { contacts } = Object((await service.get('/contacts/list')).message);
    t.equal(contacts.length, 2, 'with the same keys');
    t.equal((await ask('/settings/backup')).headers.get('location')?.startsWith('/login'), true, 'sessions have ended');
    t.match(
      beside(),
      [/^test\.db\.before-restore-\d{8}T\d{6}Z$/],
      'what it replaced is kept, and nothing else is left',
    );
  },
);

t.test('a confirmed restore is done at once, also when who confirmed it does not wait for the answer', async (t) => {
  const { service, ask, upload, confirmAndHangUp, content, beside } = await started(t);
  const bytes = await (await ask('/settings/backup/file')).arrayBuffer();
  await service.upload(1, 'email\ncleo@example.org');
  confirmAndHangUp(await upload(bytes));
  await until(
    async () => beside(),
    (names) => names.some((name) => name.startsWith('test.db.before-restore-')),
  );
  await until(
    () =>
      fetch(`${service.origin}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    (isOk) => isOk,
  );
  t.strictSame(content(), { emails: ['ann@example.org', 'bob@example.org'], isHeld: true });
});

t.test('a kill while a backup is uploaded or waits for an answer changes nothing and leaves nothing', async (t) => {
  const { service, ask, upload, content, beside } = await started(t);
  const bytes = await (await ask('/settings/backup/file')).arrayBuffer();
  await service.upload(1, 'email\ncleo@example.org');
  await upload(bytes);
  t.equal(beside().length, 1);
  const half = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.db"\r\n\r\n'));
      controller.enqueue(new Uint8Array(bytes.slice(0, 1_000_000)));
    },
  });
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const init: RequestInit & { duplex: string } = { method: 'POST', body: half, headers, duplex: 'half' };
  ask('/api/backups/upload', init).catch(() => undefined);
  await until(
    async () => beside().length,
    (count) => count === 2,
  );
  await service.end('SIGKILL');
  await service.start();
  t.strictSame(beside(), []);
  t.strictSame(content(), { emails: ['ann@example.org', 'bob@example.org', 'cleo@example.org'], isHeld: false });
});
