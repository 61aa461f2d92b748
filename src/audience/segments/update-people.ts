/** Updates contacts in the segments whose rules are about what contacts did, after new events were read. */
import { and, asc, eq, gt, isNotNull, isNull } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { segments } from '../../database/schema/index.ts';
import { type Segment, syncSegments } from './membership.ts';

/** The maximum number of contacts times segments in one write, which takes some milliseconds. */
const LOOKUPS_IN_WRITE = 2000;
/** The maximum number of events times segments in one batch, which takes some tens of milliseconds. */
const LOOKUPS_IN_BATCH = 25_000;

/** Returns how many new events one batch may read. */
export function eventsAtOnce(client: Db['$client']): number {
  return Math.ceil(LOOKUPS_IN_BATCH / Math.max(1, mostSegments(client)));
}

/** Returns the largest number of segments in one account that depend on time, as segments with rules about activity do. */
function mostSegments(client: Db['$client']): number {
  return (
    client
      .prepare<[], number>(
        'SELECT max(count) FROM (SELECT count(*) AS count FROM segments WHERE check_at IS NOT NULL AND deleted_at IS NULL GROUP BY user_id)',
      )
      .pluck()
      .get() ?? 0
  );
}

/** The contacts of an account who did something, as address ids. */
export interface ActiveContacts {
  account: number;
  people: readonly number[];
  /** Returns the people whom the rules of a segment are about. */
  concernedBy(segment: Segment): readonly number[];
}

/** Events that were read. */
export interface ReadEvents {
  update: SegmentUpdate;
  /** True if there may be more events. */
  isFull: boolean;
  /** Records how far events were read. Call it in the transaction that ends the update, so that a kill before it loses nothing. */
  end(): void;
}

/** The update of contacts in the segments of their accounts that depend on time, in several short writes. */
export class SegmentUpdate {
  readonly #db: Db;
  readonly #accounts: ActiveContacts[];
  readonly #now: string;
  /** The id of the last updated segment of the first account. */
  #after = 0;

  /** `now` is an ISO timestamp. */
  constructor(db: Db, accounts: readonly ActiveContacts[], now: string) {
    this.#db = db;
    this.#accounts = [...accounts];
    this.#now = now;
  }

  /**
   * Updates the contacts in some more segments. Returns false once all are updated. Call it inside a transaction. The transactions of an
   * update may be separate, because updating a segment twice changes nothing.
   */
  continue(): boolean {
    const [first] = this.#accounts;
    if (first === undefined) return false;
    const limit = Math.max(1, Math.floor(LOOKUPS_IN_WRITE / Math.max(1, first.people.length)));
    const next = this.#db
      .select()
      .from(segments)
      .where(
        and(
          eq(segments.user_id, first.account),
          isNotNull(segments.check_at),
          isNull(segments.deleted_at),
          gt(segments.id, this.#after),
        ),
      )
      .orderBy(asc(segments.id))
      .limit(limit)
      .all();
    syncSegments(this.#db, next, (segment) => first.concernedBy(segment), this.#now);
    this.#after = next.at(-1)?.id ?? 0;
    if (next.length < limit) {
      this.#accounts.shift();
      this.#after = 0;
    }
    return this.#accounts.length > 0;
  }
}
