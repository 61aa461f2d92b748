/** Makes an account of a test large: contacts, the deliveries and events of one single send, a segment and an automation. */
import type { Database } from 'better-sqlite3';
import { FIRST_NAMES, LAST_NAMES } from '../../fixtures/names.ts';
import { continueIndexing } from '../../src/audience/search/search-index.ts';

/** What grows: the account, and one of its single sends that was sent. */
export interface Growing {
  accountId: number;
  utr: string;
}

/** The time of everything added: shortly before the clock of a test. */
const WHEN = '2026-01-14T09:00:00.000000Z';
const WHEN_MS = Date.parse(WHEN);
const HOURS = 24;
/** The number of rows of a transaction. */
const CHUNK = 10_000;

/**
 * Adds `people` contacts to the account's contact type with the most contacts, and as many accepted deliveries to the
 * single send, with 3.3 events each on average. A third of the contacts are in each segment of the type, and wait in
 * each of the account's automations; one in 20 has unsubscribed, another is suppressed. Then writes the search index.
 */
export async function growAccount(db: Database, { accountId, utr }: Growing, people: number): Promise<void> {
  const read = (text: string, ...values: unknown[]) =>
    Number(
      db
        .prepare(text)
        .pluck()
        .get(...values) ?? 0,
    );
  const typeId = read('SELECT id FROM contact_types WHERE user_id = ? ORDER BY contacts_count DESC LIMIT 1', accountId);
  const mailingId = read(
    "SELECT m.id FROM single_sends s JOIN mailings m ON m.owner_kind = 'single' AND m.owner_id = s.id WHERE s.utr = ? ORDER BY m.id DESC",
    utr,
  );
  const first = read('SELECT max(id) FROM addresses') + 1;
  db.function('first_name_at', { deterministic: true }, (at) => FIRST_NAMES[Number(at) % FIRST_NAMES.length]);
  db.function('last_name_at', { deterministic: true }, (at) => LAST_NAMES[Number(at) % LAST_NAMES.length]);
  const base = { accountId, typeId, mailingId, when: WHEN, ms: WHEN_MS, first };
  const statements = [
    `INSERT INTO addresses (id, user_id, normalized_email)
      SELECT i, @accountId, 'grown' || i || '@example' || (i % 997) || '.com' FROM n`,
    `INSERT INTO contacts (user_id, contact_type_id, address_id, first_name, last_name, email, city, created_at, updated_at)
      SELECT @accountId, @typeId, id, first_name_at(id), last_name_at(id) || ' ' || (id % 9973), normalized_email, 'Köln', @when, @when
      FROM addresses WHERE id >= @from AND id <= @to`,
    `INSERT INTO deliveries (mailing_id, address_id, contact_id, state, reply, updated_at, opened_at, opens, clicks, by_person)
      SELECT @mailingId, address_id, id, 2, '250 2.0.0 OK', @ms, iif(id % 2, @ms + id, NULL), id % 2, id % 4 = 1, iif(id % 2, 1 + 2 * (id % 4 = 1), 0)
      FROM contacts WHERE contact_type_id = @typeId AND address_id >= @from AND address_id <= @to`,
    `INSERT INTO events (mailing_id, delivery_id, kind, link_number, made_by, happened_at)
      SELECT @mailingId, d.id, iif(e.value < 3, 'open', 'click'), iif(e.value < 3, NULL, 0), e.value % 3, @ms + (d.id * 7919) % (${HOURS} * 3600000)
      FROM deliveries d CROSS JOIN json_each(iif(d.id % 3, '[0,1,3]', '[0,1,2,3]')) e
      WHERE d.mailing_id = @mailingId AND d.address_id >= @from AND d.address_id <= @to`,
    `INSERT INTO unsubscribers (user_id, address_id, email_address, created_at, updated_at)
      SELECT @accountId, id, normalized_email, @when, @when FROM addresses WHERE id >= @from AND id <= @to AND id % 20 = 3`,
    `INSERT INTO unsubscribers (user_id, unsubscribe_groups_id, address_id, email_address, created_at, updated_at)
      SELECT @accountId, g.id, a.id, normalized_email, @when, @when FROM addresses a CROSS JOIN unsubscribe_groups g
      WHERE a.id >= @from AND a.id <= @to AND a.id % 20 = 4 AND g.user_id = @accountId`,
    `INSERT INTO suppressions (user_id, address_id, kind, diagnostic, created_at)
      SELECT @accountId, id, 'bounce', '550 5.1.1 user unknown', @when FROM addresses WHERE id >= @from AND id <= @to AND id % 20 = 5`,
    `INSERT INTO segment_recipients (user_id, segment_id, address_id, contact_id, email, created_at, updated_at)
      SELECT @accountId, s.id, c.address_id, c.id, c.email, @when, @when
      FROM contacts c CROSS JOIN segments s ON s.contact_type_id = c.contact_type_id
      WHERE c.contact_type_id = @typeId AND c.address_id >= @from AND c.address_id <= @to AND c.id % 3 = 0`,
    `INSERT INTO enrolments (automation_id, address_id, contact_id, state, entered_at, position, waiting_since, due_at)
      SELECT a.id, c.address_id, c.id, 'active', @ms, c.id % 2, @ms, @ms + 86400000000 + c.id
      FROM contacts c CROSS JOIN automations a ON a.user_id = c.user_id
      WHERE c.contact_type_id = @typeId AND c.address_id >= @from AND c.address_id <= @to AND c.id % 3 = 1`,
  ].map((text) =>
    db.prepare(
      text.includes('FROM n')
        ? `WITH RECURSIVE n(i) AS (SELECT @from UNION ALL SELECT i + 1 FROM n WHERE i < @to) ${text}`
        : text,
    ),
  );
  const add = db.transaction((from: number, to: number) => {
    for (const statement of statements) {
      const named = [...statement.source.matchAll(/@(\w+)/g)].map(([, name = '']) => name);
      const values: Record<string, unknown> = { ...base, from, to };
      statement.run(Object.fromEntries(named.map((name) => [name, values[name]])));
    }
  });
  for (let from = first; from < first + people; from += CHUNK) add(from, Math.min(first + people, from + CHUNK) - 1);
  // What the engine counts as it writes.
  db.prepare(`
    UPDATE mailings SET (recipients, triggered, delivered, unique_opens, people_opens, unique_clicks, people_clicks) =
      (SELECT count(*), count(*), sum(state = 2), sum(opens > 0), sum(by_person & 1), sum(clicks > 0), sum(by_person & 2 > 0)
        FROM deliveries WHERE mailing_id = mailings.id) WHERE id = ?`).run(mailingId);
  db.prepare('DELETE FROM mailing_hours WHERE mailing_id = ?').run(mailingId);
  db.prepare(`
    INSERT INTO mailing_hours (mailing_id, hour, opens, clicks)
      SELECT mailing_id, happened_at / 3600000 * 3600000, sum(kind = 'open'), sum(kind = 'click') FROM events WHERE mailing_id = ? GROUP BY 2`).run(
    mailingId,
  );
  db.exec('DELETE FROM membership_changes');
  while (await continueIndexing(db));
}
