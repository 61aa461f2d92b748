/**
 * Finds contacts among a million in short steps. Each step takes some candidates from the source with the fewest of them (a
 * small set, the search index, a contact type, all contacts of the account) and keeps those that satisfy the whole filter.
 */

import type { Database } from 'better-sqlite3';
import type { Db } from '../../database/open.ts';
import type { FoundIds } from '../../database/record-json.ts';
import type { SegmentRule } from '../../database/schema/index.ts';
import { isSuppressed, isUnsubscribed, SUPPRESSED_ADDRESSES, UNSUBSCRIBED_ADDRESSES } from '../eligibility.ts';
import { ruleCondition } from '../segments/rule-sql.ts';
import {
  anyTrigramQuery,
  BLOCK,
  indexedUntil,
  indexQuery,
  installSearchText,
  partsOfText,
  searchWords,
  shortPartOfText,
  trigramsBeginningWith,
} from './search-index.ts';

/**
 * The mail states of a contact: on the global unsubscribe list, suppressed, or neither. An unsubscribed contact may be suppressed as well.
 */
export const CONTACT_STATES = ['mailable', 'unsubscribed', 'suppressed'] as const;

/** Selects contacts of an account. An absent property does not restrict them. */
export interface ContactFilter {
  accountId: number;
  /** Parts of names and addresses. */
  search?: string | undefined;
  typeId?: number | undefined;
  segmentId?: number | undefined;
  state?: (typeof CONTACT_STATES)[number] | undefined;
  /** Rules as in a segment. */
  rules?: readonly SegmentRule[] | undefined;
  /** The operator that joins the rules; `and` if absent. */
  queryType?: 'and' | 'or' | null | undefined;
}

/** SQL: true if contact `c` is on the global unsubscribe list. */
const IS_UNSUBSCRIBED = isUnsubscribed('c');
const IS_SUPPRESSED = isSuppressed('c');
/** SQL: true if contact `c` has this mail state. */
const IN_STATE: Record<(typeof CONTACT_STATES)[number], string> = {
  mailable: `NOT ${IS_UNSUBSCRIBED} AND NOT ${IS_SUPPRESSED}`,
  unsubscribed: IS_UNSUBSCRIBED,
  suppressed: IS_SUPPRESSED,
};

/** SQL: the mail state of contact `c`. */
export const CONTACT_STATE = `CASE WHEN ${IS_UNSUBSCRIBED} THEN 'unsubscribed' WHEN ${IS_SUPPRESSED} THEN 'suppressed' ELSE 'mailable' END`;

/** SQL over a contact `c`, which is the same text for filters of the same form, and the values of its named parameters. */
interface FilterCondition {
  text: string;
  values: Record<string, string | number>;
}

/**
 * Returns the condition that contact `c` satisfies the filter. `now` is an ISO timestamp, for rules about time. The connection
 * needs the function of `installSearchText`.
 */
function filterCondition(filter: ContactFilter, now: string): FilterCondition {
  const { accountId, search = '', typeId, segmentId, state, rules = [], queryType = null } = filter;
  const values: Record<string, string | number> = { account: accountId };
  const conditions = [
    'c.user_id = @account',
    'c.deleted_at IS NULL',
    'EXISTS (SELECT 1 FROM contact_types t WHERE t.id = c.contact_type_id AND t.user_id = c.user_id AND t.deleted_at IS NULL)',
  ];
  if (typeId !== undefined) {
    conditions.push('c.contact_type_id = @type');
    values.type = typeId;
  }
  if (segmentId !== undefined) {
    conditions.push(
      'EXISTS (SELECT 1 FROM segment_recipients r WHERE r.segment_id = @segment AND r.address_id = c.address_id AND r.contact_id = c.id AND r.is_removed = 0)',
    );
    values.segment = segmentId;
  }
  if (state !== undefined) conditions.push(IN_STATE[state]);
  if (rules.length > 0) {
    const condition = ruleCondition(accountId, rules, queryType, now);
    conditions.push(condition.text);
    Object.assign(values, condition.values);
  }
  const words = searchWords(search);
  if (words.length > 0) {
    conditions.push('has_words(c.email, c.first_name, c.last_name, @words)');
    values.words = JSON.stringify(words);
  }
  return { text: conditions.join(' AND '), values };
}

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

/** The number of candidates of the first step, unless each check may be expensive. */
const FIRST_CANDIDATES = 200;
const MIN_CANDIDATES = 5;
const MAX_CANDIDATES = 2000;
/** A step that takes longer halves the number of candidates of the next step; one that takes less than half of this time doubles it. */
const STEP_MS = 8;

/**
 * Adapts how many contacts a search looks at in one step, because a check of one contact takes between a microsecond and, for
 * long names and many words, a hundred microseconds.
 */
export class Pace {
  #candidates: number;

  /** `first`: the number of candidates of the first step, lower if each check may be expensive. */
  constructor(first = FIRST_CANDIDATES) {
    this.#candidates = first;
  }

  /** Runs one step over this number of candidates, and measures it for the next one. */
  step<Result>(work: (candidates: number) => Result): Result {
    const started = performance.now();
    const result = work(this.#candidates);
    const took = performance.now() - started;
    if (took > STEP_MS) this.#candidates = Math.max(MIN_CANDIDATES, Math.floor(this.#candidates / 2));
    else if (took < STEP_MS / 2) this.#candidates = Math.min(MAX_CANDIDATES, this.#candidates * 2);
    return result;
  }
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
function idReader(
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
function blockReader(
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
const idsIn = (block: number) => Array.from({ length: BLOCK }, (_, at) => block * BLOCK + at);

/** Returns a place as text without trailing white space, because requests lose it. */
function placeText({ id, email }: Place): string {
  return email === '' ? String(id) : `${id} ${email}`;
}

/** Parses a place that `step` returned. A malformed one counts as id 0: the beginning, or with the newest first the end. */
function parsePlace(text: string): Place {
  const [, id = '0', email = ''] = /^(\d{1,16})(?: (.*))?$/s.exec(text) ?? [];
  return { id: Number(id), email };
}

/** The maximum number of contacts found in a step, because making their records takes as long as comparing some thousands. */
const MAX_FOUND = 500;

interface ListSearch {
  accountId: number;
  typeId: number | undefined;
  text: string;
}

/**
 * The search of the API's list of contacts: contacts whose address and full name together contain a text, by ascending id. The
 * index finds candidates by the parts of the text that it can look for; each candidate is then compared with the whole text. If
 * the text has only parts of one or two characters and they are frequent, every contact is compared. Returns a function that finds
 * the next contacts after an id. Every call is one short step, which may find none although there are more.
 */
export function listSearch(
  client: Database,
  { accountId, typeId, text }: ListSearch,
): (afterId: number, limit: number) => FoundIds {
  const condition = filterCondition({ accountId, typeId }, '');
  const matching = client
    .prepare<unknown[], number>(`
      SELECT c.id FROM json_each(@ids) i CROSS JOIN contacts c ON c.id = i.value
      WHERE ${condition.text} AND instr(fold(c.email || ' ' || trim(c.first_name || ' ' || c.last_name)), fold(@text)) > 0
      ORDER BY i.key LIMIT @limit`)
    .pluck();
  const candidates = candidatesOf(client, { accountId, typeId, text });
  const pace = new Pace();
  return (afterId, limit) =>
    pace.step((count) => {
      const { ids, next } = candidates(afterId, count);
      const maxMatches = Math.min(limit, MAX_FOUND);
      const matches = matching.all({ ...condition.values, ids: JSON.stringify(ids), text, limit: maxMatches });
      return { ids: matches, next: matches.length === maxMatches ? (matches.at(-1) ?? next) : next };
    });
}

/** Returns a function that reads the blocks of the index with contacts that may have a text; null if it cannot look for the text. */
function blocksWithText(client: Database, accountId: number, text: string): ReturnType<typeof blockReader> | null {
  const parts = partsOfText(text);
  if (parts.length > 0) return blockReader(client, accountId, (account) => indexQuery(parts, account), true);
  const short = shortPartOfText(text);
  const trigrams = short === '' ? null : trigramsBeginningWith(client, short);
  if (trigrams === null) return null;
  if (trigrams.length === 0) return () => [];
  return blockReader(client, accountId, (account) => anyTrigramQuery(trigrams, account), true);
}

/** Returns a function that reads the next contacts to compare: about `count` after an id. */
function candidatesOf(
  client: Database,
  { accountId, typeId, text }: ListSearch,
): (afterId: number, count: number) => FoundIds {
  const fromAll = idReader(client, { accountId, typeId }, true);
  const indexed = blocksWithText(client, accountId, text);
  if (indexed === null) return fromAll;
  const changed = client
    .prepare<[number, number], number>(
      'SELECT block FROM contact_search_changes WHERE block >= ? ORDER BY block LIMIT ?',
    )
    .pluck();
  return (afterId, count) => {
    const until = indexedUntil(client);
    if (afterId >= until) return fromAll(afterId, count);
    const start = Math.floor((afterId + 1) / BLOCK);
    const maxBlocks = Math.ceil(count / BLOCK);
    // Changed blocks are read before the index, so that a block that is indexed between the two reads is not missed.
    const stale = changed.all(start, maxBlocks);
    const blocks = [...new Set([...stale, ...indexed(start, maxBlocks)])].sort((a, b) => a - b).slice(0, maxBlocks);
    const lastBlock = blocks.length < maxBlocks ? undefined : blocks.at(-1);
    // Contacts after the last indexed one are compared one by one.
    const end = lastBlock === undefined ? until : Math.min(until, lastBlock * BLOCK + BLOCK - 1);
    const ids = blocks.flatMap(idsIn).filter((id) => id > afterId && id <= end);
    return { ids, next: end };
  };
}
