/** What an upgrade does for frequency caps. */
import t from 'tap';
import { connect } from '../../src/database/open.ts';
import { DELIVERY_STATE } from '../../src/database/schema/index.ts';
import { migrateAndSeed } from '../../src/database/upgrade.ts';
import { continueEarlierMails } from '../../src/delivery/queue/ledger/earlier-mails.ts';
import { oldDatabase } from '../support/releases.ts';

/** The migrations before the one with which limits count mails in an index. */
const MIGRATIONS = 56;

t.test('frequency caps count what people had before the upgrade', async (t) => {
  const path = oldDatabase(t, MIGRATIONS);
  const { $client } = connect(path);
  $client.pragma('foreign_keys = OFF');
  $client.exec(`
    INSERT INTO accounts (id, name, created_at, mail_caps) VALUES (9, 'Shop', '', '[{"mails":1,"days":1}]');
    INSERT INTO mailings (id, user_id, owner_kind, owner_id, content, state, created_at, finished_at)
      VALUES (1, 9, 'single', 1, '{}', 'done', '', '2026-01-15T09:00:00.000000Z');
    INSERT INTO deliveries (id, mailing_id, address_id, state)
      VALUES (1, 1, 1, ${DELIVERY_STATE.accepted}), (2, 1, 2, ${DELIVERY_STATE.bounced})`);
  $client.close();
  const db = connect(path);
  t.teardown(() => db.$client.close());
  migrateAndSeed(db);
  while (await continueEarlierMails(db.$client, Date.UTC(2026, 0, 20)));
  const counted = db.$client.prepare('SELECT counts_to_caps FROM deliveries ORDER BY id').pluck().all();
  t.strictSame(counted, [1, 0]);
});
