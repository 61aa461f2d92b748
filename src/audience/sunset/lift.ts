/** Ends what sunset did to people: because they acted, or because somebody of the account says so. */
import type { Database } from 'better-sqlite3';
import { prepared } from '../../database/prepared.ts';

/** Lets people (address ids) get mail again whose newest open or click is after what they were found inactive for. `now` is an ISO timestamp. */
export function liftActive(client: Database, people: readonly number[], now: string): void {
  prepared(
    client,
    `UPDATE sunset_people SET lifted_at = @now, lifted_by = 'person'
    WHERE id IN (SELECT z.id FROM json_each(@people) p CROSS JOIN sunset_people z INDEXED BY sunset_people_address
        ON z.address_id = p.value AND z.lifted_at IS NULL
      CROSS JOIN activity y ON y.address_id = z.address_id AND y.last_at >= z.cutoff)`,
  ).run({ people: JSON.stringify(people), now });
}

/** Ends an entry of an account, and others of the same person; gives whether it had no end. `now` is an ISO timestamp. */
export function liftOne(client: Database, account: number, id: number, now: string): boolean {
  const { changes } = prepared(
    client,
    `UPDATE sunset_people SET lifted_at = @now, lifted_by = 'owner' WHERE lifted_at IS NULL AND address_id =
      (SELECT address_id FROM sunset_people WHERE id = @id AND user_id = @account AND lifted_at IS NULL)`,
  ).run({ account, id, now });
  return changes > 0;
}

/** Notes that everybody who is stopped now is to get mail again. The background does it. */
export function liftEverybody(client: Database, account: number): void {
  prepared(
    client,
    'UPDATE sunsets SET lift_to = (SELECT ifnull(max(id), 0) FROM sunset_people WHERE user_id = @account AND lifted_at IS NULL) WHERE user_id = @account',
  ).run({ account });
}

/** Ends some of those of an account up to an id; gives whether there may be more. `now` is an ISO timestamp. */
export function liftSome(client: Database, account: number, to: number, rows: number, now: string): boolean {
  const { changes } = prepared(
    client,
    `UPDATE sunset_people SET lifted_at = @now, lifted_by = 'owner'
    WHERE id IN (SELECT id FROM sunset_people INDEXED BY sunset_people_present
      WHERE user_id = @account AND id <= @to AND lifted_at IS NULL ORDER BY id LIMIT @rows)`,
  ).run({ account, to, rows, now });
  return changes === rows;
}

/** Removes what is known of a person who is erased. They are let go first, so that the counts of those who are stopped stay right. */
export function eraseSunset(client: Database, addressId: number, now: string): void {
  client
    .prepare("UPDATE sunset_people SET lifted_at = ?, lifted_by = 'owner' WHERE address_id = ? AND lifted_at IS NULL")
    .run(now, addressId);
  client.prepare('DELETE FROM sunset_people WHERE address_id = ?').run(addressId);
}
