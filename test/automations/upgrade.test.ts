/**
 * An upgrade from the release before automations had triggers and steps, with contacts on the way. upgrade/rows.sql has
 * the rows of a database that commit ff3ae5be^ made, and upgrade/mails.json what that same code sent from then on,
 * recorded at each full hour.
 */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { readConfig } from '../../src/config.ts';
import { connect } from '../../src/database/open.ts';
import { migrateAndSeed } from '../../src/database/upgrade.ts';
import { openTokens } from '../../src/delivery/links/tokens.ts';
import { OutboxCourier } from '../../src/delivery/transport/outbox.ts';
import { Background } from '../../src/threads/background.ts';
import { FakeClock } from '../support/app.ts';
import { DAY, HOUR } from '../support/automations.ts';
import { oldDatabase, releases } from '../support/releases.ts';

interface Recorded {
  /** When the rows were taken. */
  at: string;
  mails: { at: string; to: string; raw: string }[];
  /** What became of everybody's run. */
  runs: object[];
}

const read = (name: string) => readFileSync(new URL(`./upgrade/${name}`, import.meta.url), 'utf8');
const RECORDED: Recorded = JSON.parse(read('mails.json'));
/** A tracked link of that release, with account, group and a longer signature. Those of today are shorter, and both are answered. */
const LONGER_LINK = /(\/c\/[^-]+-\d+-\d+)-\d+-\d+(\.[\w-]{16})[\w-]{6}/g;
const LAST_MIGRATION = '0071_search_ends';

t.test('who waits between mails at an upgrade gets the same mails at the same times, byte for byte', async (t) => {
  const path = oldDatabase(t, 1 + releases.findIndex(({ tag }) => tag === LAST_MIGRATION));
  const old = connect(path);
  old.$client.pragma('foreign_keys = OFF');
  old.$client.exec(read('rows.sql'));
  const runs = 'SELECT automation_id, address_id, state, reason, position, due_at FROM enrolments ORDER BY 1, 2';
  const before = old.$client.prepare(runs).all();
  old.$client.close();

  const db = connect(path);
  migrateAndSeed(db);
  t.strictSame(db.$client.prepare(runs).all(), before, 'nobody loses their place');
  t.strictSame(
    db.$client.prepare('SELECT DISTINCT kind, parent_id, branch FROM automation_schedules').raw().all(),
    [['mail', null, null]],
    'each mail is a step of the main path',
  );
  t.strictSame(db.$client.prepare('SELECT DISTINCT trigger_kind, re_entry FROM automations').raw().all(), [
    ['join', 'never'],
  ]);

  const clock = new FakeClock();
  clock.advance(Date.parse(RECORDED.at) - clock.now().getTime());
  const background = new Background({
    db,
    config: readConfig({ DATABASE_PATH: path }),
    clock,
    courier: new OutboxCourier(db, clock),
    tokens: openTokens(db.$client),
    publicUrl: () => 'http://mail.example.com',
    log: (fields) => t.fail(JSON.stringify(fields)),
  });
  await background.untilIdle();
  for (let passed = 0; passed < 8 * DAY; passed += HOUR) {
    clock.advance(HOUR);
    await background.untilIdle();
  }
  await background.close(1000);
  const mails = db.$client
    .prepare<[], Recorded['mails'][number]>(
      'SELECT created_at AS at, envelope_to AS "to", CAST(raw AS TEXT) AS raw FROM outbox ORDER BY created_at, envelope_to, subject',
    )
    .all();
  t.strictSame(
    mails,
    RECORDED.mails.map((mail) => ({ ...mail, raw: mail.raw.replaceAll(LONGER_LINK, '$1$2') })),
  );
  t.strictSame(db.$client.prepare(runs).all(), RECORDED.runs);
  t.strictSame(
    db.$client.prepare('SELECT DISTINCT run, ended_at IS NOT NULL AS ended FROM enrolments ORDER BY 2').raw().all(),
    [
      [1, 0],
      [1, 1],
    ],
  );
  db.$client.close();
});
