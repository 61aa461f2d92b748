/**
 * Finds contacts among a million in short steps. Each step takes some candidates from whatever leads to the fewest of them (a small set,
 * the index of the search, a contact type, all contacts of the account) and keeps those that satisfy the whole filter.
 */
import type { Database } from 'better-sqlite3';
import type { Db } from '../../database/open.ts';
import { type ContactFilter, type FilterCondition, filterCondition, findSmallSet } from './contact-filter.ts';
import { BLOCK, indexedUntil } from './search-index.ts';
import { indexQuery, installSearchText, searchWords } from './search-text.ts';

/** newest and oldest: by when they were added. */
export const CONTACT_ORDERS = ['newest', 'oldest', 'email'] as const;
export type ContactOrder = (typeof CONTACT_ORDERS)[number];

/** A place between two contacts of an order: after this id, and where the order is by address, after this address and id. */
interface Place {
  id: number;
  email: string;
}

/** Some contact ids in order, and the place to go on from; null at the end. */
interface Candidates {
  ids: number[];
  next: Place | null;
}

type Source = (from: Place, count: number) => Candidates;

export interface Step {
  /** What `columns` gave for each contact found, in order. */
  rows: unknown[][];
  /** Where the next step goes on, as text; null when there are no more. */
  next: string | null;
}

/** Goes through the contacts of a filter, a step at a time. */
export class ContactFinder {
  readonly #client: Database;
  readonly #condition: FilterCondition;
  readonly #source: Source;
  readonly #order: ContactOrder;
  /** Whether contacts are missing because the index of the search is being written. */
  readonly isIndexing: boolean;

  /** `now` is an ISO timestamp. */
  constructor(db: Db, filter: ContactFilter, order: ContactOrder, now: string) {
    installSearchText(db);
    this.#client = db.$client;
    this.#order = order;
    this.#condition = filterCondition(filter, now);
    const words = searchWords(filter.search ?? '');
    const few = findSmallSet(db, filter);
    const unindexed = words.length > 0 && few === null ? this.#unindexed() : null;
    this.isIndexing = unindexed !== null && unindexed.length > MAX_UNINDEXED;
    if (few !== null) this.#source = this.#fromSet(few);
    else if (order === 'email') this.#source = this.#fromAddresses(filter);
    else if (unindexed === null) this.#source = this.#fromContacts(filter);
    else this.#source = this.#fromIndex(words, filter.accountId, this.isIndexing ? [] : unindexed);
  }

  /** Looks at `candidates` contacts from a place on (null: the beginning) and gives `columns` (SQL over `c`) of up to `limit` that match. */
  step(from: string | null, columns: string, limit: number, candidates: number): Step {
    const { ids, next } = this.#source(from === null ? this.#beginning() : parsePlace(from), candidates);
    const rows = this.#client
      .prepare<unknown[], [number, string, ...unknown[]]>(`
        SELECT c.id, (SELECT normalized_email FROM addresses WHERE id = c.address_id), ${columns}
        FROM json_each(@ids) i CROSS JOIN contacts c ON c.id = i.value WHERE ${this.#condition.text} ORDER BY i.key LIMIT @limit`)
      .raw()
      .all({ ...this.#condition.values, ids: JSON.stringify(ids), limit: limit + 1 });
    const kept = rows.slice(0, limit);
    const last = rows.length > limit ? kept.at(-1) : undefined;
    const end = last === undefined ? next : { id: last[0], email: this.#order === 'email' ? last[1] : '' };
    return { rows: kept.map((row) => row.slice(2)), next: end && placeText(end) };
  }

  /** How many of the next `candidates` contacts match, and where to go on. */
  count(from: string | null, candidates: number): { count: number; next: string | null } {
    const { ids, next } = this.#source(from === null ? this.#beginning() : parsePlace(from), candidates);
    const count = this.#client
      .prepare<unknown[], number>(
        `SELECT count(*) FROM json_each(@ids) i CROSS JOIN contacts c ON c.id = i.value WHERE ${this.#condition.text}`,
      )
      .pluck()
      .get({ ...this.#condition.values, ids: JSON.stringify(ids) });
    return { count: count ?? 0, next: next && placeText(next) };
  }

  #beginning(): Place {
    return { id: this.#order === 'newest' ? Number.MAX_SAFE_INTEGER : 0, email: '' };
  }

  #isAscending(): boolean {
    return this.#order !== 'newest';
  }

  /** The contacts that the index does not have yet, one more than are looked at. */
  #unindexed(): number[] {
    return this.#client
      .prepare<[number], number>(`
        SELECT id FROM contacts WHERE id > ? UNION
        SELECT c.id FROM contact_search_changes b CROSS JOIN contacts c
          ON c.id BETWEEN b.block * ${BLOCK} AND b.block * ${BLOCK} + ${BLOCK - 1}
        LIMIT ${MAX_UNINDEXED + 1}`)
      .pluck()
      .all(indexedUntil(this.#client));
  }

  #fromSet(ids: readonly number[]): Source {
    const ordered = this.#sorted(ids);
    return (from, count) => {
      const start = ordered.findIndex((place) => this.#isAfter(place, from));
      const chosen = start === -1 ? [] : ordered.slice(start, start + count);
      const isLast = start === -1 || start + count >= ordered.length;
      return { ids: chosen.map(({ id }) => id), next: isLast ? null : (chosen.at(-1) ?? null) };
    };
  }

  #sorted(ids: readonly number[]): Place[] {
    if (this.#order !== 'email') {
      const sign = this.#isAscending() ? 1 : -1;
      return [...ids].sort((a, b) => sign * (a - b)).map((id) => ({ id, email: '' }));
    }
    return this.#client
      .prepare<[string], Place>(`
        SELECT c.id, a.normalized_email AS email FROM json_each(?) i CROSS JOIN contacts c ON c.id = i.value
        CROSS JOIN addresses a ON a.id = c.address_id ORDER BY a.normalized_email, c.id`)
      .all(JSON.stringify(ids));
  }

  #isAfter(place: Place, from: Place): boolean {
    if (this.#order === 'newest') return place.id < from.id;
    if (this.#order === 'oldest') return place.id > from.id;
    // By bytes, as SQLite compares.
    const byAddress = Buffer.compare(Buffer.from(place.email), Buffer.from(from.email));
    return byAddress > 0 || (byAddress === 0 && place.id > from.id);
  }

  #fromContacts({ accountId, typeId }: ContactFilter): Source {
    const [comparison, direction] = this.#isAscending() ? ['>', 'ASC'] : ['<', 'DESC'];
    const [index, owner] = typeId === undefined ? ['contacts_user', 'user_id'] : ['contacts_type', 'contact_type_id'];
    const page = this.#client
      .prepare<[number, number, number], number>(
        `SELECT id FROM contacts INDEXED BY ${index} WHERE ${owner} = ? AND deleted_at IS NULL AND id ${comparison} ? ORDER BY id ${direction} LIMIT ?`,
      )
      .pluck();
    return (from, count) => {
      const ids = page.all(typeId ?? accountId, from.id, count);
      const last = ids.at(-1);
      return { ids, next: ids.length < count || last === undefined ? null : { id: last, email: '' } };
    };
  }

  /** Addresses are unique by account and text, so that their index has the contacts in this order. */
  #fromAddresses({ accountId }: ContactFilter): Source {
    const page = this.#client.prepare<[number, string, string, number, number], Place>(`
      SELECT c.id, a.normalized_email AS email FROM addresses a CROSS JOIN contacts c ON c.address_id = a.id
      WHERE a.user_id = ? AND a.normalized_email >= ? AND (a.normalized_email > ? OR c.id > ?)
      ORDER BY a.normalized_email, c.id LIMIT ?`);
    return (from, count) => {
      const places = page.all(accountId, from.email, from.email, from.id, count);
      return {
        ids: places.map(({ id }) => id),
        next: places.length < count ? null : (places.at(-1) ?? null),
      };
    };
  }

  #fromIndex(words: readonly string[], accountId: number, unindexed: readonly number[]): Source {
    const isAscending = this.#isAscending();
    const [comparison, direction] = isAscending ? ['>=', 'ASC'] : ['<=', 'DESC'];
    const page = this.#client
      .prepare<[string, number, number], number>(
        `SELECT rowid FROM contact_search WHERE contact_search MATCH ? AND rowid ${comparison} ? ORDER BY rowid ${direction} LIMIT ?`,
      )
      .pluck();
    const hasOthers = this.#client
      .prepare<[number], number>('SELECT EXISTS (SELECT 1 FROM accounts WHERE id <> ?)')
      .pluck();
    const query = indexQuery(words, hasOthers.get(accountId) === 1 ? accountId : null);
    return (from, count) => {
      const most = Math.ceil(count / BLOCK);
      const blocks = page.all(query, Math.min(Math.floor(from.id / BLOCK), MAX_ROWID), most);
      const lastBlock = blocks.at(-1);
      const isLast = blocks.length < most || lastBlock === undefined;
      /** The last id this step looks at. */
      const end = isLast ? null : lastBlock * BLOCK + (isAscending ? BLOCK - 1 : 0);
      const isWithin = (id: number) =>
        isAscending ? id > from.id && (end === null || id <= end) : id < from.id && (end === null || id >= end);
      const inBlocks = blocks.flatMap((block) => Array.from({ length: BLOCK }, (_, at) => block * BLOCK + at));
      const ids = [...new Set([...inBlocks, ...unindexed])]
        .filter(isWithin)
        .sort((a, b) => (isAscending ? a - b : b - a));
      return { ids, next: end === null ? null : { id: end, email: '' } };
    };
  }
}

/** So many contacts that are not in the index yet are compared one by one; with more, those are left out until they are. */
const MAX_UNINDEXED = 2000;
const MAX_ROWID = Number.MAX_SAFE_INTEGER;

/** A place as text without white space at its end, since requests lose that. */
function placeText({ id, email }: Place): string {
  return email === '' ? String(id) : `${id} ${email}`;
}

/** Reads a place that `step` gave. A malformed one counts as id 0: the beginning, or with the newest first the end. */
function parsePlace(text: string): Place {
  const [, id = '0', email = ''] = /^(\d{1,16})(?: (.*))?$/s.exec(text) ?? [];
  return { id: Number(id), email };
}
