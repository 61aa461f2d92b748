/** Purge: what it removes, what it keeps, and how the space is given back. */
import { readFileSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import t from 'tap';
import { emptyLogAfterErasure, erasePerson } from '../../src/audience/person/erase.ts';
import { connect } from '../../src/database/open.ts';
import { lockForServer } from '../../src/database/server-lock.ts';
import { systemClock } from '../../src/time/clock.ts';
import { prepared } from './prepared.ts';

t.test('purge removes what was deleted and nothing that consent or sent mails depend on', async (t) => {
  const { db, run } = prepared(t);
  db.exec(`
    INSERT INTO contact_types (id, user_id, name, created_at, updated_at, deleted_at)
      VALUES (1, 1, 'Kept', '', '', NULL), (2, 1, 'Gone', '', '', 'x');
    INSERT INTO addresses (id, user_id, normalized_email) VALUES (1, 1, 'a@x.org'), (2, 1, 'b@x.org'), (3, 1, 'c@x.org');
    INSERT INTO contacts (id, user_id, contact_type_id, address_id, email, first_name, created_at, updated_at, deleted_at)
      VALUES (1, 1, 1, 1, 'a@x.org', '', '', '', NULL), (2, 1, 1, 2, 'b@x.org', 'CanaryName', '', '', 'x'),
        (3, 1, 2, 3, 'c@x.org', '', '', '', NULL);
    INSERT INTO segments (id, user_id, contact_type_id, segment_name, select_field, select_operator, value, created_at, updated_at, deleted_at)
      VALUES (1, 1, 1, 'Gone', '[]', '[]', '[]', '', '', 'x');
    INSERT INTO segment_recipients (user_id, segment_id, address_id, email, created_at, updated_at) VALUES (1, 1, 1, 'a@x.org', '', '');
    INSERT INTO automations (id, user_id, automation_name, unsubscribe_group_id, automation_type, utr, created_at, updated_at, deleted_at)
      VALUES (1, 1, 'Gone', '1', 1, 'u1', '', '', 'x'), (2, 1, 'Kept', '1', 1, 'u2', '', '', NULL);
    INSERT INTO enrolments (id, automation_id, address_id, state, entered_at, waiting_since, due_at) VALUES (1, 1, 1, 'active', 0, 0, 0), (2, 2, 1, 'active', 0, 0, 0);
    INSERT INTO steps (enrolment_id, schedule_id, taken_at) VALUES (1, 1, 0), (2, 1, 0);
    INSERT INTO enrolment_log (automation_id, address_id, run, code, step_id, reason, happened_at)
      VALUES (2, 2, 1, 'yes', 1, 'CanaryValue', 0), (2, 1, 1, 'yes', 1, 'kept', 0);
    INSERT INTO consent_log (user_id, address_id, action, source, created_at) VALUES (1, 2, 'unsubscribed', 'page', '');
    INSERT INTO unsubscribers (user_id, address_id, email_address, created_at, updated_at) VALUES (1, 2, 'b@x.org', '', '');
    INSERT INTO mailings (id, user_id, owner_kind, owner_id, automation_id, content, state, created_at) VALUES (1, 1, 'schedule', 1, 1, '{}', 'cancelled', '');
    INSERT INTO deliveries (mailing_id, address_id, contact_id, state) VALUES (1, 2, 2, 2);
  `);
  const counts = JSON.parse((await run('purge', '--json')).out);
  t.match(counts, {
    ...{ contacts: 2, contact_types: 1, segments: 1, segment_recipients: 1 },
    ...{ automations: 1, enrolments: 1, steps: 1, senders: 0 },
  });
  const left = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  t.strictSame(['contacts', 'automations', 'enrolments', 'steps'].map(left), [1, 1, 1, 1]);
  t.strictSame(['addresses', 'consent_log', 'unsubscribers', 'mailings', 'deliveries'].map(left), [3, 1, 1, 1, 1]);
  t.strictSame(db.pragma('foreign_key_check'), []);
  const file = db.serialize().toString('latin1');
  t.notMatch(file, /Canary(Name|Value)/, 'their content is overwritten in the file');
  t.strictSame(db.prepare('SELECT reason FROM enrolment_log WHERE reason IS NOT NULL').pluck().all(), ['kept']);
  t.match((await run('purge')).out, /^Nothing was deleted/);
});

t.test('purge removes sessions that have ended and links to sign in that no longer work', async (t) => {
  const { db, run } = prepared(t);
  db.exec(`
    INSERT INTO users (id, account_id, email, normalized_email, role, created_at, updated_at)
      VALUES (1, 1, 'ann@example.org', 'ann@example.org', 'owner', '', '');
    INSERT INTO sessions (user_id, token_hash, created_at, last_seen_at) VALUES (1, 'ended', ${day(-40)}, ${day(-31)}), (1, 'alive', ${day(-40)}, ${day(0)});
    INSERT INTO login_links (account_id, user_id, token_hash, created_at, expires_at, used_at)
      VALUES (1, 1, 'used', '', ${day(1)}, ${day(0)}), (1, 1, 'old', '', ${day(-31)}, NULL), (1, 1, 'usable', '', ${day(1)}, NULL);
  `);
  t.match(JSON.parse((await run('purge', '--json')).out), { sessions: 1, login_links: 2 });
  const left = (table: string) => db.prepare(`SELECT token_hash FROM ${table}`).pluck().all();
  t.strictSame([left('sessions'), left('login_links')], [['alive'], ['usable']]);
});

/** SQL for a moment some days from now, as records have it. */
function day(days: number): string {
  return `strftime('%Y-%m-%dT%H:%M:%S.000000Z', 'now', '${days} days')`;
}

/** Deleted contacts that fill some 4 MB. */
const DELETED_PEOPLE = `
  INSERT OR IGNORE INTO contact_types (id, user_id, name, created_at, updated_at) VALUES (1, 1, 'Kept', '', '');
  WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 1000)
    INSERT INTO addresses (user_id, normalized_email) SELECT 1, 'p' || at || '@x.org' FROM n;
  INSERT INTO contacts (user_id, contact_type_id, address_id, email, first_name, address_line1, created_at, updated_at, deleted_at)
    SELECT 1, 1, id, normalized_email, '', hex(zeroblob(2000)), '', '', 'x' FROM addresses;`;

t.test('purge gives the space back while others use the file', async (t) => {
  const { db, path, run } = prepared(t);
  db.exec(DELETED_PEOPLE);
  db.pragma('wal_checkpoint(TRUNCATE)');
  const before = statSync(path).size;
  const { bytes_given_back: given, bytes_free: free } = JSON.parse((await run('purge', '--json')).out);
  t.ok(given > 3_500_000, `${given} bytes given back`);
  t.equal(free, 0);
  db.pragma('wal_checkpoint(TRUNCATE)');
  t.ok(statSync(path).size <= before - given);
  t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
});

t.test(
  'a file of an earlier release is written anew by the first purge beside no service, and only then',
  async (t) => {
    const { db, path, run } = prepared(t);
    db.exec(DELETED_PEOPLE);
    db.pragma('auto_vacuum = NONE');
    db.exec('VACUUM');
    db.close();
    const before = statSync(path).size;
    const lock = lockForServer(path);
    t.match(
      (await run('purge')).out,
      /^\d\.\d MB of the file are free and will be used again; to give them back to the disk, stop the service/m,
    );
    t.equal(statSync(path).size, before, 'a service that runs is not kept waiting');
    lock.release();
    t.match((await run('purge')).out, /^\d\.\d MB given back to the disk$/m);
    t.ok(statSync(path).size < before - 3_500_000);
    const after = new Database(path);
    t.equal(after.pragma('auto_vacuum', { simple: true }), 2);
    t.equal(after.pragma('integrity_check', { simple: true }), 'ok');
    after.close();
  },
);

t.test(
  'copies of an erased person in unused parts of the file go with the next purge while the service is stopped',
  async (t) => {
    const { db, path, run } = prepared(t);
    // What SQLite leaves in a page when it moves rows to another one.
    db.pragma('secure_delete = OFF');
    db.exec(`
    INSERT INTO addresses (id, user_id, normalized_email) VALUES (1, 1, 'ann@x.org');
    INSERT INTO contact_types (id, user_id, name, created_at, updated_at) VALUES (1, 1, 'Kept', '', ''), (2, 1, 'ann@x.org', '', '');
    INSERT INTO contacts (user_id, contact_type_id, address_id, email, first_name, created_at, updated_at) VALUES (1, 1, 1, 'ann@x.org', '', '', '');
    DELETE FROM contact_types WHERE id = 2`);
    db.pragma('secure_delete = ON');
    const actor = { userId: null, name: '', address: '' };
    const isThere = () => readFileSync(path, 'latin1').includes('ann@x.org');
    t.match(JSON.parse((await run('purge', '--json')).out), { may_have_erased_copies: false }, 'nobody was erased');
    const other = connect(path);
    await erasePerson(other, systemClock, 1, 1, actor);
    emptyLogAfterErasure(other.$client);
    other.$client.close();
    t.ok(isThere(), 'the copy is there');
    const lock = lockForServer(path);
    t.match((await run('purge')).out, /^Unused parts of the file may hold copies .* stop the service/m);
    t.ok(isThere(), 'a service that runs is not kept waiting');
    lock.release();
    t.notMatch((await run('purge')).out, 'Unused parts');
    t.notOk(isThere());
    t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
    t.match(JSON.parse((await run('purge', '--json')).out), { may_have_erased_copies: false });
  },
);
