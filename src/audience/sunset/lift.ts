/** Ends the inactivity of contacts: of those who become active, of those whom the owner lets get mail again, and of those who are erased. */
import type { Database } from 'better-sqlite3';

/** Ends the inactivity of contacts (address ids) that opened or clicked since the rule's cutoff. `now` is an ISO timestamp. */
export function liftActive(client: Database, people: readonly number[], now: string): void {
  client
    .prepare(`UPDATE sunset_people SET lifted_at = @now, lifted_by = 'person'
    WHERE id IN (SELECT z.id FROM json_each(@people) p CROSS JOIN sunset_people z INDEXED BY sunset_people_address
        ON z.address_id = p.value AND z.lifted_at IS NULL
      CROSS JOIN activity y ON y.address_id = z.address_id AND y.last_at >= z.cutoff)`)
    .run({ people: JSON.stringify(people), now });
}

/**
 * Ends an entry (`sunset_people`) of an account, and other entries of the same contact. Returns true if the entry was active. `now` is an ISO timestamp.
 */
export function liftOne(client: Database, account: number, id: number, now: string): boolean {
  const { changes } = client
    .prepare(`UPDATE sunset_people SET lifted_at = @now, lifted_by = 'owner' WHERE lifted_at IS NULL AND address_id =
      (SELECT address_id FROM sunset_people WHERE id = @id AND user_id = @account AND lifted_at IS NULL)`)
    .run({ account, id, now });
  return changes > 0;
}

/** Requests that all contacts stopped now get mail again. The background thread carries this out. */
export function requestLiftAll(client: Database, account: number): void {
  client
    .prepare(
      'UPDATE sunsets SET lift_to = (SELECT ifnull(max(id), 0) FROM sunset_people WHERE user_id = @account AND lifted_at IS NULL) WHERE user_id = @account',
    )
    .run({ account });
}

/** Ends some of the account's entries up to an id. Returns true if there may be more. `now` is an ISO timestamp. */
export function liftSome(client: Database, account: number, to: number, rows: number, now: string): boolean {
  const { changes } = client
    .prepare(`UPDATE sunset_people SET lifted_at = @now, lifted_by = 'owner'
    WHERE id IN (SELECT id FROM sunset_people INDEXED BY sunset_people_present
      WHERE user_id = @account AND id <= @to AND lifted_at IS NULL ORDER BY id LIMIT @rows)`)
    .run({ account, to, rows, now });
  return changes === rows;
}

/** Removes all entries of a contact that is erased. They are ended first, so that the counts of stopped contacts stay right. */
export function eraseSunset(client: Database, addressId: number, now: string): void {
  client
    .prepare("UPDATE sunset_people SET lifted_at = ?, lifted_by = 'owner' WHERE address_id = ? AND lifted_at IS NULL")
    .run(now, addressId);
  client.prepare('DELETE FROM sunset_people WHERE address_id = ?').run(addressId);
}
