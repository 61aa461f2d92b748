/** Reads and changes a recipient's preferences for the unsubscribe page. Every choice is one transaction. */
import type { Database } from 'better-sqlite3';
import { and, asc, desc, eq, isNotNull, isNull, or, sql } from 'drizzle-orm';
import { addressId } from '../audience/contacts/address-rows.ts';
import { fromNormalized } from '../audience/contacts/addresses.ts';
import { storeTrackingChoice } from '../audience/store-tracking-choice.ts';
import { IS_UNMEASURED } from '../audience/tracking-choice.ts';
import { addUnsubscribers, removeUnsubscribers } from '../audience/unsubscribes.ts';
import { readMailRule } from '../database/accounts.ts';
import type { Db } from '../database/open.ts';
import { mailings, type TrackingMode, unsubscribeGroups, unsubscribers } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { languageOfAddress } from '../delivery/content/values.ts';
import { countUnsubscribe } from '../delivery/feedback/opens-and-clicks.ts';
import { type Choice, type ChosenLists, type KeptLists, TRACKING } from '../delivery/feedback/preference-choice.ts';
import type { RecipientIds } from '../delivery/links/tokens.ts';
import type { ContactLanguages } from '../http/pages/words/index.ts';
import { type PublicBrand, publicBrand } from '../templates/brand/brand.ts';
import { isoTimestamp } from '../time/clock.ts';

/** The maximum number of groups shown on the page. Unsubscribing from all mail is always offered. */
export const MAX_GROUPS = 200;
const MAX_DESCRIPTION_CHARACTERS = 1000;

export interface Preferences {
  email: string;
  /** The From name of the mail; empty if the mail is no longer in the database. */
  sender: string;
  /** The groups on the page: those marked for display, and the mail's own group. */
  groups: { id: number; group_name: string; description: string }[];
  /** The id of the mail's own group; 0 if the mail has none, or if the group was deleted or was lost when a backup was restored. */
  own: number;
  /** The ids of unsubscribe entries by group id; group 0 is all mail. */
  unsubscribed: ReadonlyMap<number, number>;
  /** True if the contact's opens and clicks are recorded; null if the contact has no choice, because the account records none. */
  tracking: boolean | null;
  /** The owner's logo and colour, with which the page is shown. */
  brand: PublicBrand;
  /** The languages for the page; absent if they are unknown. */
  languages?: ContactLanguages;
  /** False if the present state of `unsubscribed` is not known. Then the page offers only to unsubscribe. */
  isCurrent: boolean;
  /** The choices that a sender node has already stored and need not store again; absent elsewhere. */
  kept?: KeptLists;
}

/** Reads and changes the preferences of recipients in the database of this process. */
export class PreferenceStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Returns the preferences of a link's recipient. */
  read(ids: RecipientIds): Preferences {
    const db = this.#db;
    const isOwn = eq(unsubscribeGroups.id, ids.group);
    const isShown = and(eq(unsubscribeGroups.is_display, 1), isNull(unsubscribeGroups.deleted_at));
    // The mail's own group comes first, because it is the most likely reason for the visit.
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
    // The entries are in two partial indexes. SQLite uses such an index only if its condition stands beside the address in the query.
    const isOfAddress = eq(unsubscribers.address_id, ids.address);
    const { unsubscribe_groups_id: groupId } = unsubscribers;
    const entries = db
      .select()
      .from(unsubscribers)
      .where(or(and(isOfAddress, isNull(groupId)), and(isOfAddress, isNotNull(groupId))))
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
      tracking: findTracking(db.$client, ids),
      brand: publicBrand(db, ids.user),
      languages: {
        own: languageOfAddress(db.$client, ids.user, ids.address),
        account: readMailRule(db, ids.user, 'mail_language'),
      },
      isCurrent: true,
    };
  }

  /** Applies the choice that a link's recipient made at `now`. The same choice a second time changes nothing. */
  apply(ids: RecipientIds, choice: Choice, now: Date): void {
    inTransaction(this.#db, () => {
      const before = this.read(ids);
      this.#change(ids, before, changesOf(before, choice), now);
    });
  }

  /** Applies changes that were computed with `changesOf`. Call this inside a transaction. */
  applyChanges(ids: RecipientIds, chosen: ChosenLists, now: Date): void {
    this.#change(ids, this.read(ids), chosen, now);
  }

  #change(ids: RecipientIds, { unsubscribed }: Preferences, chosen: ChosenLists, now: Date): void {
    const { form, left, joined } = chosen;
    if (left.includes(TRACKING) || joined.includes(TRACKING)) {
      this.#storeTrackingChoice(ids, chosen, now);
      return;
    }
    const entries = joined.flatMap((list) => unsubscribed.get(list) ?? []);
    this.#unsubscribe(ids, left, form === null ? 'one-click' : 'page', now);
    // The form of the groups also submits those that were unchecked before. They are not counted as unsubscribes from this mailing.
    const isNew = form !== 'groups' || left.some((list) => !unsubscribed.has(list));
    if (left.length > 0 && isNew) countUnsubscribe(this.#db.$client, ids, now.getTime());
    if (entries.length > 0) removeUnsubscribers(this.#db, entries, 'page', isoTimestamp(now));
  }

  #storeTrackingChoice(ids: RecipientIds, { joined, text }: ChosenLists, now: Date): void {
    storeTrackingChoice(this.#db.$client, {
      accountId: ids.user,
      addressId: addressId(this.#db, ids.user, fromNormalized(ids.email)),
      isAllowed: joined.includes(TRACKING),
      source: 'page',
      text,
      mailingId: ids.mailing,
      now: isoTimestamp(now),
    });
  }

  #unsubscribe(ids: RecipientIds, lists: readonly number[], source: 'one-click' | 'page', now: Date): void {
    const address = fromNormalized(ids.email);
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
  }
}

/** Returns true if the recipient's opens and clicks are recorded; null if the account records none or does not know the recipient. */
function findTracking(client: Database, { address, user }: RecipientIds): boolean | null {
  const row = client
    .prepare<[number, number], { tracking: TrackingMode; is_unmeasured: 0 | 1 }>(`
    SELECT u.tracking, ${IS_UNMEASURED} AS is_unmeasured FROM addresses a CROSS JOIN accounts u ON u.id = a.user_id
    WHERE a.id = ? AND a.user_id = ?`)
    .get(address, user);
  return row === undefined || row.tracking === 'off' || row.tracking === 'totals' ? null : row.is_unmeasured === 0;
}

/** Returns the preferences after a choice without reading them again. */
export function preferencesAfter(before: Preferences, choice: Choice): Preferences {
  const unsubscribed = new Map(before.unsubscribed);
  const { left, joined } = changesOf(before, choice);
  if (left.includes(TRACKING)) return { ...before, tracking: false };
  if (joined.includes(TRACKING)) return { ...before, tracking: true };
  for (const list of left) unsubscribed.set(list, unsubscribed.get(list) ?? 0);
  for (const list of joined) unsubscribed.delete(list);
  return { ...before, unsubscribed };
}

/**
 * Returns the lists that a choice leaves and joins; 0 is all mail. A group that was not on the page does not change. A contact who
 * joins all mail again does not join single groups. If the earlier unsubscribes are unknown, all chosen lists are joined.
 */
export function changesOf(
  { groups, own, unsubscribed, tracking, isCurrent }: Preferences,
  { form, shown, checked, text }: Choice,
): ChosenLists {
  const groupIds = new Set(groups.map(({ id }) => id));
  const lists = [...new Set(shown)].filter((id) => groupIds.has(id));
  const wanted = new Set(checked);
  const mayBeLeft = (list: number) => !isCurrent || unsubscribed.has(list);
  /** Returns true if the page offers a choice about opens and clicks and `isAllowed` may differ from the present setting. */
  const changesTracking = (isAllowed: boolean) => tracking !== null && (!isCurrent || tracking !== isAllowed);
  const change = { form, text: '', left: [], joined: [] };
  switch (form) {
    case 'groups':
      return {
        ...change,
        left: lists.filter((id) => !wanted.has(id)),
        joined: lists.filter((id) => wanted.has(id) && mayBeLeft(id)),
      };
    case 'leave':
      return { ...change, left: lists.filter((id) => !wanted.has(id)) };
    case 'none':
      return { ...change, left: [0] };
    case 'back':
      return { ...change, joined: [0].filter(mayBeLeft) };
    case 'track':
      return { ...change, text, joined: changesTracking(true) ? [TRACKING] : [] };
    case 'untrack':
      return { ...change, text, left: changesTracking(false) ? [TRACKING] : [] };
    default:
      return { ...change, left: [own] };
  }
}
