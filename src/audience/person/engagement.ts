/** What a person did with the mails of campaigns and automations, in numbers. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { BY_PERSON, DELIVERY_STATE } from '../../database/schema/index.ts';
import { storedSql } from '../../errors/stored.ts';
import { isoTimestamp } from '../../time/clock.ts';

/** The number of mailings whose ledger is read at once, which takes a few milliseconds. */
const MAILINGS_AT_ONCE = 500;

/**
 * Counts the mails of an address of the account, as the report of a campaign does. The schema in `operations.ts` describes the fields. A
 * mail that the test outbox kept counts nowhere, because nobody received it. The deliveries are looked up in each mailing, like those of
 * the timeline.
 */
export async function readEngagement(client: Database, account: number, address: number) {
  const page = client.prepare<
    [object],
    Record<'last' | 'delivered' | 'measured' | 'opened' | 'clicked', number | null>
  >(`
    WITH page AS (SELECT id FROM mailings INDEXED BY mailings_user WHERE user_id = @account AND id < @before ORDER BY id DESC LIMIT ${MAILINGS_AT_ONCE}),
      received AS (
        SELECT d.is_unmeasured, d.by_person FROM page CROSS JOIN deliveries d ON d.mailing_id = page.id AND d.address_id = @address
          CROSS JOIN mailings m ON m.id = d.mailing_id AND m.owner_kind IN ('single', 'schedule')
        WHERE d.state = ${DELIVERY_STATE.accepted} AND d.reply IS NOT ${storedSql('kept_in_outbox')})
    SELECT (SELECT min(id) FROM page) AS last, count(*) AS delivered, sum(is_unmeasured = 0) AS measured,
      sum(by_person & ${BY_PERSON.opened} <> 0) AS opened, sum(by_person & ${BY_PERSON.clicked} <> 0) AS clicked FROM received`);
  const counts = { delivered: 0, measured: 0, opened: 0, clicked: 0 };
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const { last, delivered, measured, opened, clicked } = page.get({ account, address, before }) ?? {};
    if (last == null) break;
    counts.delivered += delivered ?? 0;
    counts.measured += measured ?? 0;
    counts.opened += opened ?? 0;
    counts.clicked += clicked ?? 0;
    before = last;
    await setImmediate();
  }
  const lastActive = client
    .prepare<[number], number>('SELECT last_at FROM activity WHERE address_id = ?')
    .pluck()
    .get(address);
  return { ...counts, last_active_at: lastActive === undefined ? null : isoTimestamp(new Date(lastActive)) };
}
