/**
 * Finds contacts among a million in short steps. Each step takes some candidates from the source with the fewest of them (a
 * small set, the search index, a contact type, all contacts of the account) and keeps those that satisfy the whole filter.
 */

import type { Database } from 'better-sqlite3';
import type { Db } from '../../database/open.ts';
import type { FoundIds } from '../../database/record-json.ts';
import { SUPPRESSED_ADDRESSES, UNSUBSCRIBED_ADDRESSES } from '../eligibility.ts';
import { type ContactFilter, type FilterCondition, filterCondition } from './contact-filter.ts';
import { BLOCK, indexedUntil } from './search-index.ts';
import { indexQuery, installSearchText, searchWords } from './search-text.ts';

/** The number of contact ids that can be read at once and sorted in a few milliseconds. */
const SET_SIZE = 5000;

/**
 * Returns every contact id that can satisfy the filter, if one part of the filter leaves few enough to be read at once;
 * otherwise null. Some of the ids may fail other parts.
 */
function findSmallSet({ $client }: Db, { accountId, typeId, segmentId, state }: ContactFilter): number[] | null {
  const sets: [isGiven: boolean, sql: string, values: Record<string, number | undefined>][] = [
    [
      segmentId !== undefined,
      'SELECT contact_id FROM segment_recipients WHERE segment_id = @segment AND is_removed = 0 AND contact_id IS NOT NULL',
      { segment: segmentId },
    ],
    [
      state === 'unsubscribed',
      `SELECT c.id FROM (${UNSUBSCRIBED_ADDRESSES}) a CROSS JOIN contacts c ON c.address_id = a.address_id`,
      { account: accountId },
    ],
    [
      state === 'suppressed',
      `SELECT c.id FROM (${SUPPRESSED_ADDRESSES}) a CROSS JOIN contacts c ON c.address_id = a.address_id`,
      { account: accountId },
    ],
    [
      typeId !== undefined,
      'SELECT id FROM contacts WHERE contact_type_id = @type AND deleted_at IS NULL',
      { type: typeId },
    ],
  ];
  for (const [isGiven, text, values] of sets) {
    if (!isGiven) continue;
    const ids = $client
      .prepare<unknown[], number>(`${text} LIMIT ${SET_SIZE + 1}`)
      .pluck()
      .all(values);
    if (ids.length <= SET_SIZE) return ids;
  }
  return null;
}

/** The orders of contacts: by the time at which they were added, or by address. */
export const CONTACT_ORDERS = ['newest', 'oldest', 'email'] as const;
export type ContactOrder = (typeof CONTACT_ORDERS)[number];

/** A place in an order of contacts: after this id, or in the order by address, after this address and id. */
interface Place {
  id: number;
  email: string;
}

/** Candidate contact ids in order, and the place to continue from; null at the end. */
interface Candidates {
  ids: number[];
  next: Place | null;
}

type Source = (from: Place, count: number) => Candidates;

interface Step {
  /** The values of `columns` for each contact found, in order. */
  rows: unknown[][];
  /** The place where the next step continues, as text; null when there are no more contacts. */
  next: string | null;
}

/** Goes through the contacts of a filter in steps. */
export class ContactFinder {
  readonly #client: Database;
  readonly #condition: FilterCondition;
  readonly #source: Source;
  readonly #order: ContactOrder;
  /** True if contacts are missing because the search index is still being written. */
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

  /**
   * Looks at `candidates` contacts from a place on (null: the beginning) and returns `columns` (SQL over `c`) of up to `limit`
   * contacts that match.
   */
  step(from: string | null, columns: string, limit: number, candidates: number): Step {
    const { ids, next } = this.#source(from === null ? this.#beginning() : parsePlace(from), candidates);
    const rows = this.#client
      .prepare<unknown[], [number, string, ...unknown[]]>(`
        SELECT c.id, (SELECT normalized_email FROM addresses WHERE id = c.address_id), ${columns}
        FROM json_each(@ids) i CROSS JOIN contacts c ON c.id = i.value WHERE ${this.#condition.text} ORDER BY i.key LIMIT @limit`)
      .raw()
      .all({ ...this.#condition.values, ids: JSON.stringify(ids), limit: limit + 1 });
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    const position = last === undefined ? next : { id: last[0], email: this.#order === 'email' ? last[1] : '' };
    return { rows: page.map((row) => row.slice(2)), next: position && placeText(position) };
  }

  /** Returns how many of the next `candidates` contacts match, and the place to continue from. */
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

  /** Returns the contacts that the index does not have yet, at most one more than `MAX_UNINDEXED`. */
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
    // Compares bytes, as SQLite does.
    const byAddress = Buffer.compare(Buffer.from(place.email), Buffer.from(from.email));
    return byAddress > 0 || (byAddress === 0 && place.id > from.id);
  }

  #fromContacts(filter: ContactFilter): Source {
    const read = idReader(this.#client, filter, this.#isAscending());
    return (from, count) => {
      const { ids, next } = read(from.id, count);
      return { ids, next: next === null ? null : { id: next, email: '' } };
    };
  }

  /** An address is unique in an account and type, so the index of addresses has the contacts in this order. */
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
    const read = blockReader(this.#client, accountId, (account) => indexQuery(words, account), isAscending);
    return (from, count) => {
      const maxBlocks = Math.ceil(count / BLOCK);
      const blocks = read(Math.min(Math.floor(from.id / BLOCK), MAX_ROWID), maxBlocks);
      const lastBlock = blocks.at(-1);
      const isLast = blocks.length < maxBlocks || lastBlock === undefined;
      /** The last id that this step looks at. */
      const end = isLast ? null : lastBlock * BLOCK + (isAscending ? BLOCK - 1 : 0);
      const isWithin = (id: number) =>
        isAscending ? id > from.id && (end === null || id <= end) : id < from.id && (end === null || id >= end);
      const ids = [...new Set([...blocks.flatMap(idsIn), ...unindexed])]
        .filter(isWithin)
        .sort((a, b) => (isAscending ? a - b : b - a));
      return { ids, next: end === null ? null : { id: end, email: '' } };
    };
  }
}

/**
 * Up to this number of contacts that are not in the index yet are compared one by one. If there are more, they are missing from
 * the results until they are indexed.
 */
const MAX_UNINDEXED = 2000;
const MAX_ROWID = Number.MAX_SAFE_INTEGER;

/** Returns a function that reads the ids, beyond a given id, of the contacts of an account or of a type. */
export function idReader(
  client: Database,
  { accountId, typeId }: Pick<ContactFilter, 'accountId' | 'typeId'>,
  isAscending: boolean,
): (from: number, count: number) => FoundIds {
  const [comparison, direction] = isAscending ? ['>', 'ASC'] : ['<', 'DESC'];
  const [index, owner] = typeId === undefined ? ['contacts_user', 'user_id'] : ['contacts_type', 'contact_type_id'];
  const page = client
    .prepare<[number, number, number], number>(
      `SELECT id FROM contacts INDEXED BY ${index} WHERE ${owner} = ? AND deleted_at IS NULL AND id ${comparison} ? ORDER BY id ${direction} LIMIT ?`,
    )
    .pluck();
  return (from, count) => {
    const ids = page.all(typeId ?? accountId, from, count);
    return { ids, next: ids.length < count ? null : (ids.at(-1) ?? null) };
  };
}

/** Returns a function that reads the blocks of the index, from a given block on, that a query of the index finds in an account. */
export function blockReader(
  client: Database,
  accountId: number,
  queryOf: (accountId: number | null) => string,
  isAscending: boolean,
): (from: number, count: number) => number[] {
  const [comparison, direction] = isAscending ? ['>=', 'ASC'] : ['<=', 'DESC'];
  const page = client
    .prepare<[string, number, number], number>(
      `SELECT rowid FROM contact_search WHERE contact_search MATCH ? AND rowid ${comparison} ? ORDER BY rowid ${direction} LIMIT ?`,
    )
    .pluck();
  const hasOthers = client.prepare<[number], number>('SELECT EXISTS (SELECT 1 FROM accounts WHERE id <> ?)').pluck();
  const query = queryOf(hasOthers.get(accountId) === 1 ? accountId : null);
  return (from, count) => page.all(query, from, count);
}

/** Returns the ids of the contacts in a block of the index. */
export const idsIn = (block: number) => Array.from({ length: BLOCK }, (_, at) => block * BLOCK + at);

/** Returns a place as text without trailing white space, because requests lose it. */
function placeText({ id, email }: Place): string {
  return email === '' ? String(id) : `${id} ${email}`;
}

/** Parses a place that `step` returned. A malformed one counts as id 0: the beginning, or with the newest first the end. */
function parsePlace(text: string): Place {
  const [, id = '0', email = ''] = /^(\d{1,16})(?: (.*))?$/s.exec(text) ?? [];
  return { id: Number(id), email };
}
