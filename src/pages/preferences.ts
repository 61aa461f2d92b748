/** What a recipient may get and has left, read and changed by way of their unsubscribe link. Every change is one transaction. */
import { and, asc, desc, eq, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { Address } from '../audience/contacts/addresses.ts';
import { addUnsubscribers, removeUnsubscribers } from '../audience/unsubscribes/unsubscribes.ts';
import type { Clock } from '../clock.ts';
import { isoTimestamp } from '../clock.ts';
import type { Db } from '../database/open.ts';
import { mailings, unsubscribeGroups, unsubscribers } from '../database/schema/index.ts';
import { countUnsubscribe } from '../delivery/feedback/opens-and-clicks.ts';
import type { RecipientIds } from '../delivery/links/tokens.ts';

/** More than a person reads on one page. "All mail" is beside them, whatever their number. */
const MOST_GROUPS = 200;
const DESCRIPTION_CHARACTERS = 1000;

export interface Preferences {
  email: string;
  /** The name the mail came under; empty when it is not known any more. */
  sender: string;
  /** Everything the person could be on: the displayed groups and the mail's own. */
  groups: { id: number; group_name: string; description: string }[];
  /** The mail's own group; 0: it has none, or a restore lost it and nobody can tell which one it was. */
  own: number;
  /** List id (0 is "all mail") to the entry that keeps the person off it. */
  left: ReadonlyMap<number, number>;
}

export class PreferenceStore {
  readonly #db: Db;
  readonly #clock: Clock;

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** The preferences of a link's recipient. */
  read(ids: RecipientIds): Preferences {
    const db = this.#db;
    const isOwn = eq(unsubscribeGroups.id, ids.group);
    // The mail's own comes first: it is what the person came for.
    const groups = db
      .select({
        id: unsubscribeGroups.id,
        group_name: unsubscribeGroups.group_name,
        description: sql<string>`substr(${unsubscribeGroups.description}, 1, ${DESCRIPTION_CHARACTERS})`,
      })
      .from(unsubscribeGroups)
      .where(and(eq(unsubscribeGroups.user_id, ids.user), or(eq(unsubscribeGroups.is_display, 1), isOwn)))
      .orderBy(desc(isOwn), asc(unsubscribeGroups.id))
      .limit(MOST_GROUPS)
      .all();
    // Two partial indexes hold the entries, and each is used only where its own condition stands beside the address.
    const their = eq(unsubscribers.address_id, ids.address);
    const { unsubscribe_groups_id: list } = unsubscribers;
    const entries = db
      .select()
      .from(unsubscribers)
      .where(or(and(their, isNull(list)), and(their, isNotNull(list))))
      .all();
    const sender = db
      .select({ name: sql<string>`${mailings.content} ->> 'sender_name'` })
      .from(mailings)
      .where(and(eq(mailings.id, ids.mailing), eq(mailings.user_id, ids.user)))
      .get();
    return {
      email: ids.email,
      sender: sender?.name ?? '',
      groups,
      own: groups.some(({ id }) => id === ids.group) ? ids.group : 0,
      left: new Map(entries.map((entry) => [entry.unsubscribe_groups_id ?? 0, entry.id])),
    };
  }

  /** Takes the person off one list; 0 is "all mail". */
  leave(ids: RecipientIds, { email }: Preferences, list: number, source: 'one-click' | 'page'): void {
    this.#db.transaction(() => this.#leave(ids, email, [list], source), { behavior: 'immediate' });
  }

  /** Lifts "all mail"; what was left group by group stays so. */
  comeBack({ left }: Preferences): void {
    const entry = left.get(0);
    if (entry !== undefined) removeUnsubscribers(this.#db, [entry], 'page', isoTimestamp(this.#clock.now()));
  }

  /** Makes the person get just `wanted` of the groups that were `shown`: one that was added meanwhile is nobody's choice yet. */
  choose(
    ids: RecipientIds,
    { email, groups, left }: Preferences,
    shown: ReadonlySet<number>,
    wanted: ReadonlySet<number>,
  ): void {
    const lists = groups.map(({ id }) => id).filter((id) => shown.has(id));
    const off = lists.filter((id) => !wanted.has(id) && !left.has(id));
    const back = lists.filter((id) => wanted.has(id)).flatMap((id) => left.get(id) ?? []);
    this.#db.transaction(
      () => {
        this.#leave(ids, email, off, 'page');
        removeUnsubscribers(this.#db, back, 'page', isoTimestamp(this.#clock.now()));
      },
      { behavior: 'immediate' },
    );
  }

  #leave(ids: RecipientIds, email: string, lists: readonly number[], source: 'one-click' | 'page'): void {
    const now = this.#clock.now();
    const address: Address = { address: email, normalized: email, domain: email.slice(email.lastIndexOf('@') + 1) };
    for (const list of lists) {
      const change = {
        userId: ids.user,
        groupId: list || null,
        source,
        mailingId: ids.mailing,
        now: isoTimestamp(now),
      };
      addUnsubscribers(this.#db, change, [address]);
    }
    if (lists.length > 0) countUnsubscribe(this.#db.$client, ids, now.getTime());
  }
}
