/** Removes contacts that an import added, unless they were changed, or subscribed themselves, since. */
import type { Db } from '../../../database/open.ts';
import { prepared } from '../../../database/prepared.ts';
import { deleteContacts } from '../../contacts/contacts.ts';
import { syncAfterContactChange } from '../../segments/membership.ts';
import type { UndoCounts, Undone } from './undo.ts';

/** Contacts of one transaction: removing them takes a few milliseconds. */
const CHUNK = 100;

/**
 * Removes some of the contacts, inside a transaction; null when none are left. Mails to them stay in the reports, as they do for
 * every deleted contact; mails that are still queued are not sent.
 */
export function removeAdded(db: Db, { id, contact_type_id: type, written_at }: Undone, now: string): UndoCounts | null {
  const client = db.$client;
  const range = prepared<[number], { first: number; last: number }>(
    client,
    'SELECT first_id AS first, last_id AS last FROM import_added WHERE import_id = ? ORDER BY first_id LIMIT 1',
  ).get(id);
  if (range === undefined) return null;
  const contacts = prepared<[Record<string, unknown>], { id: number; address_id: number; reason: string | null }>(
    client,
    `SELECT c.id, c.address_id, CASE
        WHEN c.deleted_at IS NOT NULL THEN 'deleted'
        WHEN c.contact_type_id <> @type THEN 'moved'
        WHEN c.updated_at <> @written_at THEN 'changed'
        WHEN EXISTS (SELECT 1 FROM consent_log l WHERE l.address_id = c.address_id AND l.action = 'subscribed' AND l.created_at >= @written_at) THEN 'changed'
        WHEN EXISTS (SELECT 1 FROM segment_recipients r WHERE r.contact_id = c.id AND r.by_hand = 1) THEN 'segment'
      END AS reason
     FROM contacts c WHERE c.id BETWEEN @first AND @last ORDER BY c.id LIMIT ${CHUNK}`,
  ).all({ ...range, type, written_at });
  const gone = contacts.filter(({ reason }) => reason === null).map((contact) => contact.id);
  // First as everywhere else, so that segments, automations and counts know of it.
  deleteContacts(db, gone, now);
  prepared(client, 'DELETE FROM contacts WHERE id IN (SELECT value FROM json_each(?))').run(JSON.stringify(gone));
  const kept = contacts.filter(({ reason }) => reason !== null);
  // They may belong by rule where the import had put them by hand.
  const peopleKept = kept.map((contact) => contact.address_id);
  syncAfterContactChange(db, type, peopleKept, now, { startsAutomations: false });
  prepared(
    client,
    `INSERT OR IGNORE INTO import_kept (import_id, contact_id, reason)
     SELECT ?, value ->> 'id', value ->> 'reason' FROM json_each(?)`,
  ).run(id, JSON.stringify(kept));
  const last = contacts.at(-1)?.id;
  if (last === undefined || contacts.length < CHUNK)
    prepared(client, 'DELETE FROM import_added WHERE import_id = ? AND first_id = ?').run(id, range.first);
  else
    prepared(client, 'UPDATE import_added SET first_id = ? WHERE import_id = ? AND first_id = ?').run(
      last + 1,
      id,
      range.first,
    );
  return { removed: gone.length, restored: 0, kept: kept.length };
}
