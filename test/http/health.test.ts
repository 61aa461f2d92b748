/** What supervisors and collectors ask. */
import t from 'tap';
import { DELIVERY_STATE } from '../../src/database/schema/index.ts';
import { holdSending, releaseSending } from '../../src/delivery/queue/holds.ts';
import { bounceDelivery } from '../../src/delivery/queue/ledger/ended-deliveries.ts';
import { RelayUse } from '../../src/delivery/queue/relay-use.ts';
import { startApp } from '../support/app.ts';

const MINUTE = 60_000;

t.test('it is alive without keys and outside the API', async (t) => {
  const { page } = await startApp(t);
  const { status, body } = await page('GET', '/healthz');
  t.equal(status, 200);
  t.strictSame(body, { alive: true });
});

t.test('it is ready while it can write and the background runs; alive is another question', async (t) => {
  const { page, background, clock } = await startApp(t);
  await background();
  t.match(await page('GET', '/readyz'), { status: 200, body: { ready: true, can_write: true, background: 'running' } });
  clock.advance(4 * MINUTE);
  t.match(await page('GET', '/readyz'), { status: 503, body: { ready: false, background: 'stalled' } });
  t.equal((await page('GET', '/healthz')).status, 200);
  await background();
  clock.advance(MINUTE / 2);
  t.match(await page('GET', '/readyz'), { status: 200, body: { ready: true } }, 'it recovers by itself');
});

t.test('a database that takes no write makes it not ready, and only that', async (t) => {
  const { page, background, clock, db } = await startApp(t);
  await background();
  db.pragma('query_only = ON');
  t.match(await page('GET', '/readyz'), { status: 503, body: { ready: false, can_write: false } });
  db.pragma('query_only = OFF');
  t.equal((await page('GET', '/readyz')).status, 503, 'probes within a second share one write');
  clock.advance(1000);
  t.equal((await page('GET', '/readyz')).status, 200);
});

t.test('a step of the background that keeps failing makes it not ready, and is named, until it works', async (t) => {
  const { page, background, clock, db } = await startApp(t);
  db.pragma('legacy_alter_table = ON');
  db.exec('ALTER TABLE ab_tests RENAME TO missing_tests');
  await background();
  clock.advance(5000);
  await background();
  t.match(await page('GET', '/readyz'), { status: 200, body: { failing: [] } }, 'a short fault is none');
  clock.advance(6000);
  await background();
  t.match(await page('GET', '/readyz'), { status: 503, body: { ready: false, failing: ['A/B tests'] } });
  db.exec('ALTER TABLE missing_tests RENAME TO ab_tests');
  clock.advance(1000);
  await background();
  t.match(await page('GET', '/readyz'), { status: 200, body: { ready: true, failing: [] } });
});

t.test('held sending is told with its reason', async (t) => {
  const { page, background, clock, db } = await startApp(t);
  await background();
  holdSending(db, 'Restored from a backup');
  t.match(await page('GET', '/readyz'), {
    status: 200,
    body: { ready: true, sending: 'held', held_reason: 'Restored from a backup' },
  });
  t.match((await page('GET', '/metrics')).text, /^sendlark_sending_held 1$/m);
  releaseSending(db, clock.now().getTime());
  clock.advance(1000);
  t.match((await page('GET', '/readyz')).body, { sending: 'on', held_reason: null });
});

t.test(
  'a relay that fails is told with what it said and how long mail has been due, until one takes mail',
  async (t) => {
    const { page, background, clock, db } = await startApp(t, {
      SMTP_URL: 'smtp://127.0.0.1:1',
      PUBLIC_URL: 'https://m.example',
    });
    await background();
    t.match((await page('GET', '/readyz')).body, { relay: 'working', waits_reason: null, oldest_due_seconds: 0 });
    db.exec(`
    INSERT INTO addresses (id, user_id, normalized_email) VALUES (1, 1, 'a@example.org'), (2, 1, 'b@example.org');
    INSERT INTO mailings (id, user_id, owner_kind, owner_id, content, state, created_at)
      VALUES (1, 1, 'single', 1, '{}', 'sending', '${clock.now().toISOString()}'), (2, 1, 'single', 2, '{}', 'paused', '2020-01-01T00:00:00Z');
    INSERT INTO deliveries (mailing_id, address_id, state) VALUES (1, 1, 0), (2, 2, 0);`);
    const use = new RelayUse(db);
    const relay = '127.0.0.1:1';
    const failed = (reply: string) => use.failed({ relay, reply, at: clock.now().getTime() });
    t.equal(failed('connect ECONNREFUSED'), true, 'the first failure is news');
    clock.advance(2 * MINUTE);
    t.equal(failed('connect ECONNREFUSED'), false, 'and no other one, until the relay works');
    clock.advance(1000);
    t.match(await page('GET', '/readyz'), {
      status: 200,
      body: {
        ready: true,
        sending: 'on',
        relay: 'failing',
        waits_reason: 'connect ECONNREFUSED',
        oldest_due_seconds: 121,
      },
    });
    const { text } = await page('GET', '/metrics');
    t.match(text, /^sendlark_relay_failing 1$/m);
    t.match(text, /^sendlark_oldest_due_seconds 121$/m);
    t.equal(use.accepted({ relay, at: clock.now().getTime() }), true, 'a mail that it takes is news');
    clock.advance(1000);
    t.equal(use.accepted({ relay, at: clock.now().getTime() }), false);
    t.match((await page('GET', '/readyz')).body, { relay: 'working', waits_reason: null, oldest_due_seconds: 122 });
    t.match((await page('GET', '/metrics')).text, /^sendlark_relay_failing 0$/m);
    clock.advance(1000);
    use.failed({ relay: '127.0.0.1:2', reply: 'connect ECONNREFUSED', at: clock.now().getTime() });
    clock.advance(1000);
    t.match((await page('GET', '/readyz')).body, { relay: 'working' }, 'one that is no longer in use does not fail');
    t.match((await page('GET', '/metrics')).text, /^sendlark_relay_failing 0$/m);
    t.equal(failed('421 closing'), true);
  },
);

t.test('metrics are Prometheus text that follows the ledger', async (t) => {
  const { page, db, clock } = await startApp(t);
  db.exec(
    "INSERT INTO addresses (id, user_id, normalized_email) SELECT value, 1, value || '@example.org' FROM json_each('[1,2,3,4,5]')",
  );
  db.exec(`
    INSERT INTO mailings (id, user_id, owner_kind, owner_id, content, state, delivered, bounces, created_at)
      VALUES (1, 1, 'single', 1, '{}', 'sending', 7, 2, ''), (2, 1, 'single', 2, '{}', 'paused', 1, 0, '');
  `);
  const insert = db.prepare('INSERT INTO deliveries (mailing_id, address_id, state, updated_at) VALUES (1, ?, ?, ?)');
  const now = clock.now().getTime();
  [0, 0, 0, 1, 1].forEach((state, at) => {
    insert.run(at + 1, state, now - at * 1000);
  });
  const { status, headers, text } = await page('GET', '/metrics');
  t.equal(status, 200);
  t.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/);
  const lines = text.split('\n');
  for (const line of [
    'sendlark_queue_depth 3',
    'sendlark_oldest_sending_seconds 4',
    'sendlark_deliveries_total{result="accepted"} 8',
    'sendlark_deliveries_total{result="bounced"} 2',
    'sendlark_mailings_waiting 1',
    'sendlark_sending_held 0',
  ]) {
    t.ok(lines.includes(line), line);
  }
  t.match(
    text,
    /^# HELP sendlark_deliveries_total .* The sum is too low if mailings were deleted or failed mails sent again/m,
  );
  t.match(text, /^sendlark_wal_bytes \d+$/m);
  t.match(text, /^sendlark_build_info\{version="[\d.]+",node="[\d.]+"\} 1$/m);
  for (const line of lines.filter((line) => line !== '')) {
    t.match(line, /^(# (HELP|TYPE) sendlark_\w+ .+|sendlark_\w+(\{\w+="[\w.+]+"(,\w+="[\w.]+")?\})? [\d.e+-]+)$/, line);
  }
  t.equal(text.at(-1), '\n');
});

t.test(
  'counters only grow: a mail that comes back stays counted as accepted and counts as bounced beside it',
  async (t) => {
    const { page, db, clock } = await startApp(t);
    db.exec(`
    INSERT INTO addresses (id, user_id, normalized_email) VALUES (1, 1, 'a@example.org'), (2, 1, 'b@example.org');
    INSERT INTO mailings (id, user_id, owner_kind, owner_id, content, state, delivered, failed, created_at)
      VALUES (1, 1, 'single', 1, '{}', 'done', 2, 1, '');
    INSERT INTO deliveries (id, mailing_id, address_id, state) VALUES (1, 1, 1, ${DELIVERY_STATE.accepted}), (2, 1, 2, ${DELIVERY_STATE.accepted});`);
    const counted = async () => {
      clock.advance(1000);
      const { text } = await page('GET', '/metrics');
      return Object.fromEntries(
        [...text.matchAll(/^sendlark_deliveries_total\{result="(\w+)"\} (\d+)$/gm)].map(([, result, count]) => [
          result,
          Number(count),
        ]),
      );
    };
    t.match(await counted(), { accepted: 2, bounced: 0, failed: 1 });
    db.transaction(() =>
      bounceDelivery(db, { id: 1, mailing_id: 1, state: DELIVERY_STATE.accepted }, '550 unknown', 0),
    )();
    db.exec('UPDATE mailings SET delivered = delivered + 1');
    t.match(await counted(), { accepted: 3, bounced: 1, failed: 1 }, 'what is accepted meanwhile counts, too');
    db.exec('UPDATE mailings SET failed = 0; DELETE FROM deliveries; DELETE FROM mailings');
    t.match(await counted(), { accepted: 3, bounced: 1, failed: 1 }, 'also when a mailing is gone');
  },
);
