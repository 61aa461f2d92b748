/** A backup that is made while the service sends, and what it holds. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { sendlark } from '../support/command-line.ts';
import { Service, startSink } from '../support/service.ts';
import { startCampaign, until } from '../support/service-campaign.ts';
import { prepared } from './prepared.ts';

const PEOPLE = 300;

/** How many mails the relay takes before the copy, and until its end. */
const BEFORE = 60;

const MEANWHILE = 120;

t.test('a backup made while it sends restores elsewhere and sends nothing before its release', async (t) => {
  const sink = await startSink(t);
  sink.allow(BEFORE);
  const campaignMails = () => sink.mails.filter(({ to }) => to !== 'hello@example.com').map(({ to }) => to);
  const settings = { SMTP_URL: sink.url, SENDER_VERIFICATION: 'optional' };
  const service = new Service(t, settings);
  await service.start();
  const counters = await startCampaign(service, PEOPLE);
  await until(counters, ({ delivered }) => delivered > BEFORE / 2);

  const database = { DATABASE_PATH: join(service.folder, 'test.db') };
  const copy = join(service.folder, 'copy.db');
  const copying = sendlark(database, 'backup', copy, '--json');
  sink.allow(MEANWHILE);
  await until(counters, ({ delivered }) => delivered > BEFORE);
  const { code, out } = await copying;
  t.equal(code, 0);
  t.match(JSON.parse(out), { file: copy, bytes: statSync(copy).size });
  t.equal(statSync(copy).mode & 0o777, 0o600, 'only the owner can read it');
  t.match(await sendlark(database, 'backup', copy), { code: 1, err: /exists; --force replaces it/ });
  t.match(await sendlark(database, 'backup', copy, '--force'), { code: 0, out: /integrity ok/ });
  t.strictSame(
    readdirSync(service.folder).filter((name) => name.startsWith('copy')),
    ['copy.db'],
    'one file, nothing beside it',
  );
  const known = queuedIn(copy);
  t.ok(known > 0 && known < PEOPLE, 'the copy is of a moment within the send');
  sink.allow(Number.POSITIVE_INFINITY);
  await until(counters, ({ status }) => status === 3);
  t.equal(new Set(campaignMails()).size, PEOPLE);
  t.equal(campaignMails().length, PEOPLE, 'the running service sends each mail once');

  t.match(await sendlark(database, 'restore', copy), { code: 1, err: /Another Sendlark server is running/ });
  await service.end('SIGTERM');
  t.match(await sendlark(database, 'restore', copy), { code: 1, err: /test\.db exists; --force replaces it/ });

  const folder = mkdtempSync(join(tmpdir(), 'sendlark-restored-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'restored.db');
  const restored = await sendlark({ DATABASE_PATH: path }, 'restore', copy);
  t.match(restored, { code: 0, out: new RegExp(`Sending is held; ${known} mails wait`) });
  const second = new Service(t, { ...settings, DATABASE_PATH: path });
  await second.start();
  const ready = async () => (await fetch(`${second.origin}/readyz`)).json() as Promise<Record<string, unknown>>;
  await until(ready, (state) => state.background === 'running');
  t.match(await ready(), { ready: true, sending: 'held', held_reason: /^Restored from a backup/ });
  t.equal(campaignMails().length, PEOPLE, 'nothing is sent twice before the release');

  t.match(await sendlark({ DATABASE_PATH: path }, 'release'), { code: 0, out: /^Sending goes on/ });
  await until(
    () => queuedIn(path),
    (queued) => queued === 0,
  );
  t.equal(campaignMails().length, PEOPLE + known, 'after it exactly those go that the copy had not sent');
  t.match(await sendlark({ DATABASE_PATH: path }, 'release'), { code: 0, out: 'Sending was not held\n' });
});

t.test('a backup and what the command tells of it hold no secret', async (t) => {
  const canary = 'canary-9f2c';
  const secrets = {
    PUBLIC_KEY: 'pk_test_of_sendlark',
    SECRET_KEY: `sk_${canary}_of_sendlark`,
    SMTP_URL: `smtp://user:${canary}@127.0.0.1:9`,
  };
  const service = new Service(t, secrets);
  await service.start();
  const copy = join(service.folder, 'copy.db');
  const settings = { ...secrets, DATABASE_PATH: join(service.folder, 'test.db') };
  const { secretKey } = JSON.parse((await sendlark(settings, 'keys', 'create', '--json')).out);
  const told = [
    await sendlark(settings, 'backup', copy, '--json'),
    await sendlark(settings, 'backup', copy),
    await sendlark(settings, 'backup', copy, '--force'),
    await sendlark(settings, 'backup', join(service.folder, 'none', 'copy.db')),
  ];
  t.strictSame(
    told.map(({ code }) => code),
    [0, 1, 0, 1],
  );
  await service.end('SIGTERM');
  told.push(
    await sendlark(settings, 'restore', copy),
    await sendlark({ ...settings, DATABASE_PATH: join(service.folder, 'restored.db') }, 'restore', copy, '--json'),
  );
  const bytes = readFileSync(copy);
  for (const secret of [canary, secretKey.slice('sk_'.length)]) {
    t.equal(bytes.indexOf(secret), -1, 'in the copy neither password nor key stands');
    t.notMatch(JSON.stringify(told), secret);
  }
  t.strictSame(
    readdirSync(service.folder).filter((name) => name.includes('unfinished')),
    [],
    'nothing half-made stays',
  );
});

t.test('anything but a complete backup of this release is refused, and the database stays as it is', async (t) => {
  const { db, path, run } = prepared(t);
  db.close();
  const folder = dirname(path);
  const file = join(folder, 'copy.db');
  await run('backup', file);

  const text = join(folder, 'text.db');
  writeFileSync(text, 'no database, only text '.repeat(1000));
  t.match(await run('restore', text, '--force'), { code: 1, err: /cannot be read/ });
  const other = join(folder, 'other.db');
  new Database(other).exec('CREATE TABLE x (y)').close();
  t.match(await run('restore', other, '--force'), { code: 1, err: /is no database of Sendlark/ });
  const newer = new Database(file);
  newer.prepare("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('', ?)").run(Date.UTC(2100, 0));
  newer.close();
  t.match(await run('restore', file, '--force'), { code: 1, err: /newer release: upgrade Sendlark/ });
  t.strictSame(
    readdirSync(folder).filter((name) => /unfinished|-wal/.test(name)),
    [],
  );
  t.match(await run('account', 'list'), { code: 0, out: /Main/ }, 'the database is as it was');

  const damaged = join(folder, 'damaged.db');
  writeFileSync(damaged, '');
  t.ok(existsSync(damaged));
  t.match(await run('restore', damaged, '--force'), { code: 1, err: /is no database of Sendlark/ });
});

/** How many recipients a database has yet to serve. */
function queuedIn(path: string): number {
  const client = new Database(path, { readonly: true });
  const count = client.prepare('SELECT count(*) FROM deliveries WHERE state IN (0, 1)').pluck().get();
  client.close();
  return Number(count);
}
