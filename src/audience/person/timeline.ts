/**
 * Everything that is recorded about one person, as a list of moments. First the times of all moments are read, a little at a time, with
 * other requests answered in between; then what the newest of them are.
 */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { sentence } from '../../errors/sentences.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { mailedMoments, mailedSlices, type Place } from './mailed-moments.ts';
import { type Moment, type MomentRow, moment } from './moments.ts';

/** The most moments of an export. */
export const MAX_MOMENTS = 20_000;
/** Moments that are read in full at once. */
const AT_ONCE = 100;

interface Range {
  /** The key of a moment: only moments before it. */
  before?: string | undefined;
  limit: number;
}

/** A moment, or where to read it. Its time is in epoch milliseconds, since numbers are sorted much faster than texts. */
interface Found {
  at: number;
  source: string;
  id: number;
  moment: Moment | null;
}

/** The newest `limit` moments of an address of the account, or those before the moment with the key `before`, newest first. */
export async function personTimeline(
  client: Database,
  accountId: number,
  addressId: number,
  range: Range,
): Promise<Moment[]> {
  const moments: Moment[] = [];
  for await (const some of timelineSlices(client, accountId, addressId, range)) moments.push(...some);
  return moments;
}

/** The same moments, some at a time. */
export async function* timelineSlices(
  client: Database,
  accountId: number,
  addressId: number,
  { before, limit }: Range,
): AsyncGenerator<Moment[]> {
  let found: Found[] = [];
  // Done after each slice: to add a few to what is in order takes a fraction of a millisecond, to sort all at the end tens of them.
  const keepNewest = () => {
    found = found.sort(newestFirst).slice(0, limit);
  };
  const given = { account: accountId, address: addressId };
  RECORDED.forEach((text, at) => {
    const source = at.toString(36);
    for (const row of client.prepare<unknown[], MomentRow>(text).all(given)) {
      const key = keyOf(row.at, source, row.id);
      if (before === undefined || key < before)
        found.push({ at: epochTime(row.at), source, id: row.id, moment: moment(key, row) });
    }
  });
  for (const slice of mailedSlices(client, accountId, addressId, limit, before === undefined ? null : bound(before))) {
    for (const { source, id, at } of slice) found.push({ at: epochTime(at), source, id, moment: null });
    keepNewest();
    await setImmediate();
  }
  keepNewest();
  for (let at = 0; at < found.length; at += AT_ONCE) {
    const some = found.slice(at, at + AT_ONCE).map((one) => ({ ...one, key: keyOf(one.at, one.source, one.id) }));
    const read = mailedMoments(
      client,
      accountId,
      some.filter((one) => one.moment === null),
    );
    yield some.flatMap((one) => one.moment ?? read.get(one.key) ?? []);
    await setImmediate();
  }
}

function newestFirst(a: Found, b: Found): number {
  return b.at - a.at || (a.source === b.source ? b.id - a.id : a.source < b.source ? 1 : -1);
}

function epochTime(at: number | string): number {
  return typeof at === 'number' ? at : Date.parse(at);
}

/** The key of a moment: different for each of a person, and ascending in time. `at` is in epoch milliseconds or an ISO timestamp. */
function keyOf(at: number | string, source: string, id: number): string {
  const time = typeof at === 'number' ? isoTimestamp(new Date(at)) : at;
  return `${time} ${source}${String(id).padStart(16, '0')}`;
}

/** Reads a key. A malformed one is before everything. */
function bound(key: string): Place {
  const [time = '', rest = ''] = key.split(' ', 2);
  return { at: Date.parse(time) || 0, source: rest.slice(0, 1), id: Number(rest.slice(1)) || 0 };
}

/** What somebody agreed to with a form `g`, as SQL. */
const CONSENT = `'${sentence('form_consent', {
  text: "' || g.consent_text || '",
  time: "' || replace(substr(g.asked_at, 1, 16), 'T', ' ') || '",
  asker: "' || g.asked_from || '",
  confirmer: "' || g.confirmed_from || '",
})}'`;

/** The newest changes of their lists and segments that are looked at: an address has more only where somebody tests with it. */
const MAX_CHANGES = 1000;

/**
 * The moments that are not about mails, of which everybody has few: a query for each source, of an @address of an @account.
 * Contacts that were deleted count too, until they are purged. Being in a segment is known by the row of today, having been in it by
 * that of leaving.
 */
const RECORDED: readonly string[] = [
  `SELECT 'contact_created' AS kind, c.id, c.created_at AS at, t.name
   FROM contacts c LEFT JOIN contact_types t ON t.id = ifnull(
     (SELECT v.from_type_id FROM contact_moves v WHERE v.contact_id = c.id ORDER BY v.id LIMIT 1), c.contact_type_id)
   WHERE c.address_id = @address AND c.user_id = @account`,
  `SELECT 'contact_changed' AS kind, c.id, c.updated_at AS at, t.name
   FROM contacts c LEFT JOIN contact_types t ON t.id = c.contact_type_id
   WHERE c.address_id = @address AND c.user_id = @account AND c.updated_at <> c.created_at
     AND NOT EXISTS (SELECT 1 FROM contact_moves v WHERE v.contact_id = c.id AND v.created_at = c.updated_at)`,
  `SELECT 'contact_moved' AS kind, v.id, v.created_at AS at, t.name, f.name AS from_name
   FROM contacts c CROSS JOIN contact_moves v ON v.contact_id = c.id
     LEFT JOIN contact_types t ON t.id = v.to_type_id LEFT JOIN contact_types f ON f.id = v.from_type_id
   WHERE c.address_id = @address AND c.user_id = @account ORDER BY v.id DESC LIMIT ${MAX_CHANGES}`,
  `SELECT 'contact_deleted' AS kind, c.id, ifnull(c.deleted_at, t.deleted_at) AS at, t.name
   FROM contacts c CROSS JOIN contact_types t ON t.id = c.contact_type_id
   WHERE c.address_id = @address AND c.user_id = @account AND (c.deleted_at IS NOT NULL OR t.deleted_at IS NOT NULL)`,
  `WITH written (type_id, created_at, updated_at) AS (
     SELECT contact_type_id, created_at, updated_at FROM contacts WHERE address_id = @address
     UNION SELECT v.from_type_id, c.created_at, c.updated_at
     FROM contacts c CROSS JOIN contact_moves v ON v.contact_id = c.id WHERE c.address_id = @address)
   SELECT DISTINCT 'imported' AS kind, i.id, i.written_at AS at, i.file_name AS name
   FROM written w CROSS JOIN contact_imports i INDEXED BY contact_imports_written ON i.contact_type_id = w.type_id AND i.written_at IN (w.created_at, w.updated_at)
   WHERE i.user_id = @account`,
  `SELECT 'segment_joined' AS kind, r.id, r.created_at AS at, s.segment_name AS name
   FROM segments s CROSS JOIN segment_recipients r ON r.segment_id = s.id AND r.address_id = @address WHERE s.user_id = @account`,
  `SELECT 'segment_removed' AS kind, r.id, r.updated_at AS at, s.segment_name AS name
   FROM segments s CROSS JOIN segment_recipients r ON r.segment_id = s.id AND r.address_id = @address
   WHERE s.user_id = @account AND r.is_removed = 1`,
  `SELECT 'segment_joined' AS kind, l.id, l.joined_at AS at, s.segment_name AS name
   FROM segment_leaves l CROSS JOIN segments s ON s.id = l.segment_id AND s.user_id = @account
   WHERE l.address_id = @address ORDER BY l.id DESC LIMIT ${MAX_CHANGES}`,
  `SELECT 'segment_left' AS kind, l.id, l.left_at AS at, s.segment_name AS name
   FROM segment_leaves l CROSS JOIN segments s ON s.id = l.segment_id AND s.user_id = @account
   WHERE l.address_id = @address ORDER BY l.id DESC LIMIT ${MAX_CHANGES}`,
  `SELECT 'automation_entered' AS kind, e.id, e.entered_at AS at, a.automation_name AS name, a.utr, e.state, e.reason
   FROM automations a CROSS JOIN enrolments e ON e.automation_id = a.id AND e.address_id = @address
   WHERE a.user_id = @account AND a.deleted_at IS NULL`,
  `SELECT g.action AS kind, g.id, g.created_at AS at, ifnull(g.form_name, u.group_name) AS name,
     CASE WHEN g.asked_at IS NOT NULL THEN ${CONSENT} WHEN g.consent_text IS NOT NULL THEN g.consent_text ELSE g.source END AS reason
   FROM consent_log g LEFT JOIN unsubscribe_groups u ON u.id = g.unsubscribe_groups_id
   WHERE g.address_id = @address AND g.user_id = @account ORDER BY g.id DESC LIMIT ${MAX_CHANGES}`,
  `SELECT 'transactional' AS kind, t.id, t.created_at AS at, t.subject, t.utr, t.state, t.reply AS reason
   FROM transactional_mails t INDEXED BY transactional_mails_address
   WHERE t.address_id = @address AND t.user_id = @account ORDER BY t.id DESC LIMIT ${MAX_CHANGES}`,
  `SELECT 'suppressed' AS kind, s.id, s.created_at AS at, s.kind AS state, s.diagnostic AS reason
   FROM suppressions s WHERE s.address_id = @address AND s.user_id = @account`,
  `SELECT 'inactive' AS kind, z.id, z.created_at AS at, z.action AS state
   FROM sunset_people z WHERE z.address_id = @address AND z.user_id = @account`,
  `SELECT 'active_again' AS kind, z.id, z.lifted_at AS at, z.lifted_by AS state
   FROM sunset_people z WHERE z.address_id = @address AND z.user_id = @account AND z.lifted_at IS NOT NULL`,
];
