/** Records events that other programs report about contacts, with the counters of each contact. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import type { Db } from '../../database/open.ts';
import { prepared } from '../../database/prepared.ts';
import { inTransaction } from '../../database/transaction.ts';
import { invalid } from '../../errors/failure.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { isErased } from '../contacts/address-rows.ts';
import type { Address } from '../contacts/addresses.ts';
import { hasContactType, insertContact } from '../contacts/contacts.ts';
import type { GivenEvent } from './given-events.ts';
import { startAutomations } from './start-automations.ts';

/** The maximum number of names of events and properties in an account, because a program could put anything into a name. */
const MAX_WORDS = 1000;
/** The number of contacts that one transaction adds, which takes a few milliseconds. */
const ADDED_AT_ONCE = 10;
/** With more events than this, other requests are answered between reading them and writing them. */
const MANY_EVENTS = 100;

/** What became of the events of a request. */
export interface Recorded {
  recorded: number;
  /** Events whose key was recorded before. */
  repeated: number;
  /** Contacts that were added. */
  created: number;
  /** The indices of events whose contact the account does not have. They are not recorded. */
  unknown: number[];
}

const LIVE = 't.id = c.contact_type_id AND t.deleted_at IS NULL AND c.deleted_at IS NULL';
const BY_ADDRESS = `
  SELECT a.id FROM addresses a WHERE a.user_id = ? AND a.normalized_email = ?
    AND EXISTS (SELECT 1 FROM contacts c CROSS JOIN contact_types t ON ${LIVE} WHERE c.address_id = a.id)`;
const BY_ID = `
  SELECT c.address_id AS id FROM contacts c CROSS JOIN contact_types t ON ${LIVE} WHERE c.user_id = ? AND c.id = ?`;

/** Returns the id of the address of an event's contact; undefined if the account has no such contact. */
function findPerson(client: Database, account: number, { contactId, address }: GivenEvent): number | undefined {
  const found =
    contactId !== null
      ? prepared<[number, number], { id: number }>(client, BY_ID).get(account, contactId)
      : prepared<[number, string], { id: number }>(client, BY_ADDRESS).get(account, address?.normalized ?? '');
  return found?.id;
}

/**
 * Records events in one transaction: all of them or, if the service is killed, none. An event whose key the account has already is
 * not recorded again, so a request can be repeated.
 * @param listId The contact type to which unknown addresses are added first, a few at a time; null: they are not added.
 */
export async function recordEvents(
  db: Db,
  clock: Clock,
  account: number,
  events: readonly GivenEvent[],
  listId: number | null,
): Promise<Recorded> {
  const created = listId === null ? 0 : await addUnknown(db, clock, account, events, listId);
  if (events.length > MANY_EVENTS) await setImmediate();
  return { ...inTransaction(db, () => writeEvents(db.$client, account, events, clock.now().getTime())), created };
}

async function addUnknown(
  db: Db,
  clock: Clock,
  account: number,
  events: readonly GivenEvent[],
  listId: number,
): Promise<number> {
  const unknown = new Map<string, Address>();
  for (const event of events) {
    const { address } = event;
    if (address !== null && findPerson(db.$client, account, event) === undefined)
      unknown.set(address.normalized, address);
  }
  const all = [...unknown.values()];
  let created = 0;
  for (let at = 0; at < all.length; at += ADDED_AT_ONCE) {
    if (at > 0) await setImmediate();
    created += inTransaction(db, () => addSome(db, clock, account, all.slice(at, at + ADDED_AT_ONCE), listId));
  }
  return created;
}

/** Adds those of these addresses that are still unknown to a list that still exists. An erased address is not added again. */
function addSome(db: Db, clock: Clock, account: number, addresses: readonly Address[], listId: number): number {
  if (!hasContactType(db, account, listId)) return 0;
  const now = isoTimestamp(clock.now());
  let created = 0;
  for (const { address: email, normalized } of addresses) {
    const isKnown =
      prepared<[number, string], { id: number }>(db.$client, BY_ADDRESS).get(account, normalized) !== undefined;
    if (isKnown || isErased(db.$client, account, normalized)) continue;
    insertContact(db, account, { contact_type_id: listId, email }, now);
    created++;
  }
  return created;
}

/** What a batch adds to the counters of one contact and name. */
interface Added {
  address: number;
  name: number;
  events: number;
  value: number;
  last: number;
}

function writeEvents(
  client: Database,
  account: number,
  events: readonly GivenEvent[],
  now: number,
): Omit<Recorded, 'created'> {
  const after = newestEvent(client);
  const nameIds = new Map<string, number>();
  const words = new Words(client, account);
  const insert = prepared<unknown[]>(
    client,
    `INSERT INTO contact_events (user_id, address_id, name_id, happened_at, event_key, value, currency, properties)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const added = new Map<string, Added>();
  const unknown: number[] = [];
  let recorded = 0;
  let repeated = 0;
  for (const [at, event] of events.entries()) {
    const address = findPerson(client, account, event);
    if (address === undefined) {
      unknown.push(at);
      continue;
    }
    const name = words.idOf('name', event.name);
    nameIds.set(event.name, name);
    const { happened, key, value, currency } = { ...event, happened: event.at };
    const { changes } = insert.run(
      account,
      address,
      name,
      happened,
      key,
      value,
      currency,
      storedProperties(words, event),
    );
    if (changes === 0) {
      repeated++;
      continue;
    }
    recorded++;
    const total = added.get(`${address} ${name}`) ?? { address, name, events: 0, value: 0, last: 0 };
    added.set(`${address} ${name}`, total);
    total.events++;
    total.value += value ?? 0;
    total.last = Math.max(total.last, happened);
  }
  addTotals(client, [...added.values()]);
  startAutomations(client, account, { after, nameIds, now });
  return { recorded, repeated, unknown };
}

/** Returns the highest id of an event that is recorded now. */
function newestEvent(client: Database): number {
  return prepared<[], { id: number }>(client, 'SELECT ifnull(max(id), 0) AS id FROM contact_events').get()?.id ?? 0;
}

/** Returns the properties as a JSON object by the ids of their names; null without any. */
function storedProperties(words: Words, { properties }: GivenEvent): string | null {
  if (properties.length === 0) return null;
  return `{${properties.map(([name, value]) => `"${words.idOf('properties', name)}":${JSON.stringify(value)}`).join()}}`;
}

function addTotals(client: Database, added: readonly Added[]): void {
  const add = prepared<unknown[]>(
    client,
    `INSERT INTO event_totals (address_id, name_id, events, value, last_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (address_id, name_id) DO UPDATE SET
      events = events + excluded.events, value = value + excluded.value, last_at = max(last_at, excluded.last_at)`,
  );
  const names = new Map<number, { events: number; last: number }>();
  for (const { address, name, events, value, last } of added) {
    add.run(address, name, events, value, last);
    const ofName = names.get(name) ?? { events: 0, last: 0 };
    names.set(name, { events: ofName.events + events, last: Math.max(ofName.last, last) });
  }
  const count = prepared<unknown[]>(
    client,
    'UPDATE event_words SET events = events + ?, last_at = max(last_at, ?) WHERE id = ?',
  );
  for (const [name, { events, last }] of names) count.run(events, last, name);
}

/** The ids of an account's names, each looked up once. Unknown names are added. */
class Words {
  readonly #client: Database;
  readonly #account: number;
  readonly #ids = new Map<string, number>();

  constructor(client: Database, account: number) {
    this.#client = client;
    this.#account = account;
  }

  /** Returns the id of a name. Throws 422 for `field` if the account has too many names. */
  idOf(field: 'name' | 'properties', word: string): number {
    const known = this.#ids.get(word);
    if (known !== undefined) return known;
    const id = this.#find(word) ?? this.#add(field, word);
    this.#ids.set(word, id);
    return id;
  }

  #find(word: string): number | undefined {
    return prepared<[number, string], { id: number }>(
      this.#client,
      'SELECT id FROM event_words WHERE user_id = ? AND word = ?',
    ).get(this.#account, word)?.id;
  }

  #add(field: string, word: string): number {
    const words = prepared<[number], { count: number }>(
      this.#client,
      'SELECT count(*) AS count FROM event_words WHERE user_id = ?',
    ).get(this.#account);
    if ((words?.count ?? 0) >= MAX_WORDS)
      throw invalid(field, `An account may not have more than ${MAX_WORDS} names of events and properties.`);
    return Number(
      prepared<[number, string]>(this.#client, 'INSERT INTO event_words (user_id, word) VALUES (?, ?)').run(
        this.#account,
        word,
      ).lastInsertRowid,
    );
  }
}
