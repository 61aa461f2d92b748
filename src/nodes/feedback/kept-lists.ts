/** What a person chose themselves already, so that choosing the same again needs not be kept again. */
import type { Database } from 'better-sqlite3';
import { prepared } from '../../database/prepared.ts';
import type { KeptLists } from '../../delivery/feedback/choice.ts';
import type { RecipientIds } from '../../delivery/links/tokens.ts';

/**
 * Lists that the person left by their own choice and JetStream knows of. Not those on which others put them: that they want it, too,
 * changes what undoing an import does.
 */
const OWN_CHOICES = `
  SELECT list FROM (
    SELECT 0 AS list, created_at, updated_at FROM unsubscribers WHERE address_id = @address AND unsubscribe_groups_id IS NULL
    UNION ALL SELECT unsubscribe_groups_id, created_at, updated_at FROM unsubscribers
      WHERE address_id = @address AND unsubscribe_groups_id IS NOT NULL) u
  WHERE NOT EXISTS (SELECT 1 FROM unpublished_choices p WHERE p.address_id = @address AND p.list = u.list)
    AND (u.updated_at <> u.created_at OR (SELECT source FROM consent_log l
      WHERE l.address_id = @address AND ifnull(l.unsubscribe_groups_id, 0) = u.list AND l.action = 'unsubscribed' ORDER BY id DESC LIMIT 1) IN ('page', 'one-click'))`;
const NOT_COUNTED =
  'SELECT 1 FROM deliveries WHERE id = ? AND mailing_id = ? AND address_id = ? AND unsubscribed_at IS NULL';

export function keptLists(client: Database, { delivery, mailing, address }: RecipientIds): KeptLists {
  const left = prepared<[{ address: number }], number>(client, OWN_CHOICES).pluck().all({ address });
  return { left, isCounted: prepared(client, NOT_COUNTED).get(delivery, mailing, address) === undefined };
}
