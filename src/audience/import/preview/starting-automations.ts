/** Which live automations an import would start, and for how many people. */
import type { Db } from '../../../database/open.ts';
import { AUTOMATION_STATUS } from '../../../database/schema/index.ts';
import { DEFAULT_OPTIONS, type ImportJob } from '../import-options.ts';

/** An automation that people of the file would enter. */
export interface StartingAutomation {
  utr: string;
  automation_name: string;
  /** How many would enter; the most who could where it is not exact. */
  people: number;
  /** 0 for a segment: who belongs to it is known only once the contacts are written. */
  is_exact: 0 | 1;
}

/** So many automations are named. */
const MAX_NAMED = 100;

interface Reached {
  id: number;
  utr: string;
  automation_name: string;
  segment: number | null;
}

/**
 * Gives a function that counts the people between two rows of temp.sorted, to be called with every range, and one that gives the
 * automations in the end. `counts` are the people of the whole file.
 */
export function automationCounter(db: Db, { accountId, typeId, options = DEFAULT_OPTIONS }: ImportJob) {
  const client = db.$client;
  const live = options.startsAutomations
    ? client
        .prepare<unknown[], Reached>(`
          SELECT au.id, au.utr, au.automation_name, s.id AS segment
          FROM automations au LEFT JOIN segments s ON au.automation_for_table = 'segments' AND s.id = au.automation_for AND s.deleted_at IS NULL
          WHERE au.user_id = ? AND au.status = ${AUTOMATION_STATUS.live} AND au.deleted_at IS NULL
            AND (s.contact_type_id = ? OR s.id = ? OR (au.automation_for_table = 'contacts' AND au.automation_for = ?))
          ORDER BY au.id LIMIT ${MAX_NAMED}`)
        .all(accountId, typeId, options.segmentId, typeId)
    : [];
  // Whoever was in an automation before does not enter it again.
  const again = client
    .prepare<[number, number, number, number, number], number>(`
      SELECT count(*) FROM sorted s CROSS JOIN addresses a ON a.user_id = ? AND a.normalized_email = s.normalized
        CROSS JOIN enrolments e ON e.automation_id = ? AND e.address_id = a.id
      WHERE s.rowid > ? AND s.rowid <= ?
        AND NOT EXISTS (SELECT 1 FROM contacts c WHERE c.contact_type_id = ? AND c.address_id = a.id AND c.deleted_at IS NULL)`)
    .pluck();
  const returning = new Map<number, number>();
  return {
    count(after: number, until: number): void {
      for (const { id, segment } of live)
        if (segment === null)
          returning.set(id, (returning.get(id) ?? 0) + (again.get(accountId, id, after, until, typeId) ?? 0));
    },
    found(counts: Record<'new' | 'changed' | 'unchanged' | 'skipped', number>): StartingAutomation[] {
      const everybody = counts.new + counts.changed + counts.unchanged + counts.skipped;
      return live
        .map(({ id, utr, automation_name, segment }) => ({
          utr,
          automation_name,
          people:
            segment === null
              ? counts.new - (returning.get(id) ?? 0)
              : segment === options.segmentId
                ? everybody
                : counts.new + counts.changed,
          is_exact: segment === null ? (1 as const) : (0 as const),
        }))
        .filter(({ people }) => people > 0);
    },
  };
}
