/** Records events that other programs report about contacts, with the counters of each contact. */

import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import type { Db } from '../../database/open.ts';
import { inTransaction } from '../../database/transaction.ts';
import { invalid } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { countErasedAddresses } from '../contacts/erased-addresses.ts';
import { upsertAll } from '../contacts/upsert.ts';
import type { ReportedEvent } from './read-events.ts';
import { startAutomations, wakeWaiting } from './start-automations.ts';

/** The maximum number of names of events and properties in an account, because a program could put anything into a name. */
const MAX_WORDS = 1000;
/** The number of events that are prepared before other requests have a turn, which takes a few milliseconds. */
const PREPARED_AT_ONCE = 200;

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

/** SQL: `t` is the type of contact `c`, and neither is deleted. */
const LIVE = 't.id = c.contact_type_id AND t.deleted_at IS NULL AND c.deleted_at IS NULL';
/** SQL: the address ids of the contacts with one of the normalized addresses @given. */
const BY_ADDRESS = `
  SELECT value AS given, a.id FROM json_each(@given) CROSS JOIN addresses a ON a.user_id = @account AND a.normalized_email = value
  WHERE EXISTS (SELECT 1 FROM contacts c CROSS JOIN contact_types t ON ${LIVE} WHERE c.address_id = a.id)`;
/** SQL: the address ids of those contacts whose ids are in @given. */
const BY_ID = `
  SELECT value AS given, c.address_id AS id FROM json_each(@given)
    CROSS JOIN contacts c ON c.id = value AND c.user_id = @account CROSS JOIN contact_types t ON ${LIVE}`;

/** Returns a function that gives the id of the address of an event's contact; undefined if the account has no such contact. */
function findPeople(
  client: Database,
  account: number,
  events: readonly ReportedEvent[],
): (event: ReportedEvent) => number | undefined {
  const find = (text: string, given: readonly (number | string)[]) => {
    const rows = client.prepare<[object], { given: number | string; id: number }>(text).all({
      account,
      given: JSON.stringify(given),
    });
    return new Map(rows.map((row) => [row.given, row.id]));
  };
  const ids = find(BY_ID, [...new Set(events.flatMap(({ contactId }) => contactId ?? []))]);
  const addresses = find(BY_ADDRESS, [...new Set(events.flatMap(({ address }) => address?.normalized ?? []))]);
  return ({ contactId, address }) =>
    contactId === null ? addresses.get(address?.normalized ?? '') : ids.get(contactId);
}

/**
 * Records events in one transaction: all of them or, if the service is killed, none. An event whose key the account has already is
 * not recorded again, so a request can be repeated.
 * @param listId The contact type to which unknown addresses are added first, in transactions of their own; null: they are not added.
 */
export async function recordEvents(
  db: Db,
  clock: Clock,
  account: number,
  events: readonly ReportedEvent[],
  listId: number | null,
): Promise<Recorded> {
  const created = listId === null ? 0 : await addUnknown(db, clock, account, events, listId);
  const client = db.$client;
  // Everything is prepared before the transaction, because no other request is answered during the transaction.
  const erased = countErasedAddresses(client, account);
  const addressBefore = findPeople(client, account, events);
  const words = new Words(client, account);
  const properties: StoredProperties[] = [];
  for (const [index, event] of events.entries()) {
    if (index > 0 && index % PREPARED_AT_ONCE === 0) await setImmediate();
    properties.push(storedProperties(event, (name) => words.find(name)));
  }
  return inTransaction(db, () => {
    // An address that was erased meanwhile gets no event.
    const wasErased = countErasedAddresses(client, account) > erased;
    const addressOf = wasErased ? findPeople(client, account, events) : addressBefore;
    const prepared = events.map((event, index) => ({
      event,
      address: addressOf(event),
      properties: properties[index],
    }));
    return { ...writeEvents(client, account, prepared, words, clock.now().getTime()), created };
  });
}

interface PreparedEvent {
  event: ReportedEvent;
  /** The id of the contact's address; undefined if the contact is unknown. */
  address: number | undefined;
  properties: StoredProperties;
}

/** Adds the addresses of unknown contacts to a list, and returns how many. An erased address is not added again. */
async function addUnknown(
  db: Db,
  clock: Clock,
  account: number,
  events: readonly ReportedEvent[],
  listId: number,
): Promise<number> {
  const addressOf = findPeople(db.$client, account, events);
  const unknown = new Map<string, string>();
  for (const event of events) {
    const { address } = event;
    if (address !== null && addressOf(event) === undefined) unknown.set(address.normalized, address.address);
  }
  const contacts = [...unknown.values()].map((email) => ({ email }));
  const outcomes = await upsertAll(db, account, listId, contacts, isoTimestamp(clock.now()));
  return outcomes.filter(({ outcome }) => outcome === 'created').length;
}

function writeEvents(
  client: Database,
  account: number,
  events: readonly PreparedEvent[],
  words: Words,
  now: number,
): Omit<Recorded, 'created'> {
  const after = newestEvent(client);
  const nameIds = new Map<string, number>();
  const insert = client.prepare(`
    INSERT INTO contact_events (user_id, address_id, name_id, happened_at, event_key, value, currency, properties)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const unknown: number[] = [];
  let recorded = 0;
  let repeated = 0;
  for (const [index, { event, address, properties }] of events.entries()) {
    if (address === undefined) {
      unknown.push(index);
      continue;
    }
    const name = words.idOf('name', event.name);
    nameIds.set(event.name, name);
    const { at: happened, key, value, currency } = event;
    const stored = properties ?? storedProperties(event, (name) => words.idOf('properties', name));
    const { changes } = insert.run(account, address, name, happened, key, value, currency, stored);
    if (changes === 0) repeated++;
    else recorded++;
  }
  for (const statement of ADD_TO_COUNTERS) client.prepare<[number]>(statement).run(after);
  if (client.prepare(IS_WANTED).get(account) !== undefined) client.prepare(WRITE_WEBHOOK_EVENTS).run(after);
  startAutomations(client, account, { after, nameIds, now });
  wakeWaiting(client, account, { after, nameIds, now });
  return { recorded, repeated, unknown };
}

/** Returns the highest id of the events recorded so far; 0 if there are none. */
function newestEvent(client: Database): number {
  return client.prepare<[], { id: number }>('SELECT ifnull(max(id), 0) AS id FROM contact_events').get()?.id ?? 0;
}

/** Properties as a JSON object by the ids of their names; null: there are none; undefined: one of the names is new. */
type StoredProperties = string | null | undefined;

function storedProperties({ properties }: ReportedEvent, idOf: (name: string) => number | undefined): StoredProperties {
  if (properties.length === 0) return null;
  const stored: string[] = [];
  for (const [name, value] of properties) {
    const id = idOf(name);
    if (id === undefined) return undefined;
    stored.push(`"${id}":${JSON.stringify(value)}`);
  }
  return `{${stored.join()}}`;
}

/** SQL: adds the events with higher ids than the given one to the counters of their contacts and of their names. */
const ADD_TO_COUNTERS = [
  `INSERT INTO event_totals (address_id, name_id, events, value, last_at)
  SELECT address_id, name_id, count(*), total(value), max(happened_at) FROM contact_events NOT INDEXED WHERE id > ? GROUP BY address_id, name_id
  ON CONFLICT (address_id, name_id) DO UPDATE SET
    events = events + excluded.events, value = value + excluded.value, last_at = max(last_at, excluded.last_at)`,
  `UPDATE event_words SET events = events + new.number, last_at = max(last_at, new.last) FROM (
    SELECT name_id, count(*) AS number, max(happened_at) AS last FROM contact_events NOT INDEXED WHERE id > ? GROUP BY name_id) new
  WHERE id = new.name_id`,
];

/** SQL: a row if a webhook of the account wants the events of contacts. */
const IS_WANTED = "SELECT 1 FROM webhook_wants WHERE user_id = ? AND event = 'contact.event'";
/** SQL: writes all new events for webhooks at once. A trigger would take time for each event, even if no webhook wants it. */
const WRITE_WEBHOOK_EVENTS = `
  INSERT INTO webhook_events (user_id, type, lane, data)
  SELECT v.user_id, 'contact.event', v.address_id,
    json_object('email', a.normalized_email, 'name', n.word, 'key', v.event_key,
      'happened_at', strftime('%Y-%m-%dT%H:%M:%f', v.happened_at / 1000.0, 'unixepoch') || 'Z', 'value', v.value, 'currency', v.currency,
      'properties', json((SELECT json_group_object(w.word, p.value) FROM json_each(v.properties) p CROSS JOIN event_words w ON w.id = CAST(p.key AS INTEGER))))
  FROM contact_events v NOT INDEXED CROSS JOIN event_words n ON n.id = v.name_id CROSS JOIN addresses a ON a.id = v.address_id
  WHERE v.id > ? ORDER BY v.id`;

/** The ids of an account's names, each looked up once. Unknown names are added. */
class Words {
  readonly #client: Database;
  readonly #account: number;
  readonly #ids = new Map<string, number>();

  constructor(client: Database, account: number) {
    this.#client = client;
    this.#account = account;
  }

  /** Returns the id of a name; undefined if the account does not have it yet. */
  find(word: string): number | undefined {
    const id =
      this.#ids.get(word) ??
      this.#client
        .prepare<[number, string], { id: number }>('SELECT id FROM event_words WHERE user_id = ? AND word = ?')
        .get(this.#account, word)?.id;
    if (id !== undefined) this.#ids.set(word, id);
    return id;
  }

  /** Returns the id of a name, which is added if it is new. Throws 422 for `field` if the account has too many names. */
  idOf(field: 'name' | 'properties', word: string): number {
    const id = this.find(word) ?? this.#add(field, word);
    this.#ids.set(word, id);
    return id;
  }

  #add(field: string, word: string): number {
    const words = this.#client
      .prepare<[number], { count: number }>('SELECT count(*) AS count FROM event_words WHERE user_id = ?')
      .get(this.#account);
    if ((words?.count ?? 0) >= MAX_WORDS) throw invalid(field, sentence('event_names_most', { count: MAX_WORDS }));
    return Number(
      this.#client
        .prepare<[number, string]>('INSERT INTO event_words (user_id, word) VALUES (?, ?)')
        .run(this.#account, word).lastInsertRowid,
    );
  }
}
