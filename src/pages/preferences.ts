/** Reads and changes what a recipient is unsubscribed from, by their unsubscribe link. Every change is one transaction. */
import { and, asc, desc, eq, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { Address } from '../audience/contacts/addresses.ts';
import { addUnsubscribers, removeUnsubscribers } from '../audience/unsubscribes.ts';
import type { Clock } from '../clock.ts';
import { isoTimestamp } from '../clock.ts';
import type { Db } from '../database/open.ts';
import { mailings, unsubscribeGroups, unsubscribers } from '../database/schema/index.ts';
import { countUnsubscribe } from '../delivery/feedback/opens-and-clicks.ts';
import type { RecipientIds } from '../delivery/links/tokens.ts';

/** The most groups shown on the page. Unsubscribing from all mail is always offered. */
const MAX_GROUPS = 200;
const MAX_DESCRIPTION_CHARACTERS = 1000;

export interface Preferences {
  email: string;
  /** The From name of the mail; empty when the mail is no longer in the database. */
  sender: string;
  /** The groups shown: those marked for display, and the mail's own. */
  groups: { id: number; group_name: string; description: string }[];
  /** The mail's own group; 0 when it has none, or when the group is no longer in the database, for example after a restore. */
  own: number;
  /** The entries that unsubscribe the person, by group id; 0 is all mail. */
  unsubscribed: ReadonlyMap<number, number>;
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
    const isShown = and(eq(unsubscribeGroups.is_display, 1), isNull(unsubscribeGroups.deleted_at));
    // The mail's own group comes first, because that is what the person came for.
    const groups = db
      .select({
        id: unsubscribeGroups.id,
        group_name: unsubscribeGroups.group_name,
        description: sql<string>`substr(${unsubscribeGroups.description}, 1, ${MAX_DESCRIPTION_CHARACTERS})`,
      })
      .from(unsubscribeGroups)
      .where(and(eq(unsubscribeGroups.user_id, ids.user), or(isShown, isOwn)))
      .orderBy(desc(isOwn), asc(unsubscribeGroups.id))
      .limit(MAX_GROUPS)
      .all();
    // The entries are in two partial indexes, and SQLite uses each only when its condition is next to the address in the query.
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
      unsubscribed: new Map(entries.map((entry) => [entry.unsubscribe_groups_id ?? 0, entry.id])),
    };
  }

  /** Unsubscribes the person from one group; 0 is all mail. */
  unsubscribe(ids: RecipientIds, { email }: Preferences, list: number, source: 'one-click' | 'page'): void {
    this.#db.transaction(() => this.#unsubscribe(ids, email, [list], source), { behavior: 'immediate' });
  }

  /** Removes the unsubscription from all mail. Unsubscriptions from single groups stay. */
  resubscribe({ unsubscribed }: Preferences): void {
    const entry = unsubscribed.get(0);
    if (entry !== undefined) removeUnsubscribers(this.#db, [entry], 'page', isoTimestamp(this.#clock.now()));
  }

  /**
   * Subscribes the person to the groups in `wanted` and unsubscribes them from the others in `shown`. A group added after the page was
   * loaded is in neither and stays as it is.
   */
  saveChoices(
    ids: RecipientIds,
    { email, groups, unsubscribed }: Preferences,
    shown: ReadonlySet<number>,
    wanted: ReadonlySet<number>,
  ): void {
    const lists = groups.map(({ id }) => id).filter((id) => shown.has(id));
    const toUnsubscribe = lists.filter((id) => !wanted.has(id) && !unsubscribed.has(id));
    const toResubscribe = lists.filter((id) => wanted.has(id)).flatMap((id) => unsubscribed.get(id) ?? []);
    this.#db.transaction(
      () => {
        this.#unsubscribe(ids, email, toUnsubscribe, 'page');
        removeUnsubscribers(this.#db, toResubscribe, 'page', isoTimestamp(this.#clock.now()));
      },
      { behavior: 'immediate' },
    );
  }

  #unsubscribe(ids: RecipientIds, email: string, lists: readonly number[], source: 'one-click' | 'page'): void {
    const now = this.#clock.now();
    const address: Address = { address: email, normalized: email, domain: email.slice(email.lastIndexOf('@') + 1) };
    for (const list of lists) {
      const change = {
        accountId: ids.user,
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
