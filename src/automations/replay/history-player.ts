/**
 * Applies the history of an account (history.ts) to the tables of the view in the order in which it happened, and records for the automation
 * what the live service would record.
 */
import { startAutomations, wakeWaiting } from '../../audience/events/start-automations.ts';
import { peopleOf, recordFormConfirmed, recordMembershipChange } from '../../audience/segments/membership.ts';
import type { Db } from '../../database/open.ts';
import { DELIVERY_STATE } from '../../database/schema/index.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { eventsOf, type Item, KINDS, type Kind, type Scope } from './history.ts';

/** The number of items that are read from the history at once. */
const ITEMS_AT_ONCE = 5000;

/** Applies the history to the tables of the view. */
export class HistoryPlayer {
  readonly #view: Db;
  readonly #scope: Scope;
  /** The ids of the names of events. */
  readonly #nameIds: ReadonlyMap<string, number>;
  /** SQL: the columns of `contacts`. */
  readonly #contactColumns: string;
  /** SQL: the values of these columns for a contact who joins a list. */
  readonly #joinColumns: string;

  constructor(view: Db, scope: Scope) {
    this.#view = view;
    this.#scope = scope;
    const client = view.$client;
    const words = client.prepare<[object], { id: number; word: string }>(
      'SELECT id, word FROM event_words WHERE user_id = @account AND word IN (SELECT value FROM json_each(@names))',
    );
    const names = eventsOf(scope.automation, scope.steps);
    const rows = words.all({ account: scope.automation.user_id, names: JSON.stringify(names) });
    this.#nameIds = new Map(rows.map(({ id, word }) => [word, id]));
    const columns = client.prepare<[], string>("SELECT name FROM pragma_table_info('contacts')").pluck().all();
    this.#contactColumns = columns.join();
    const replaced: Readonly<Record<string, string>> = {
      contact_type_id: "i.value ->> 'place'",
      deleted_at: 'NULL',
      updated_at: "i.value ->> 'stamp'",
    };
    this.#joinColumns = columns.map((column) => replaced[column] ?? `c.${column}`).join();
  }

  /** Gives the view the state of the account at the beginning of the replay. Records nothing for the automation, so nobody enters it. */
  start(): void {
    for (const items of this.#pages(Number.MIN_SAFE_INTEGER, this.#scope.from))
      for (const batch of inBatches(items)) this.#write(batch);
  }

  /** Returns the time of the first item of the history after a moment, in epoch milliseconds; undefined if no item follows. */
  nextAfter(moment: number): number | undefined {
    return (
      this.#view.$client
        .prepare<[number], { at: number | null }>('SELECT min(at) AS at FROM history WHERE at > ?')
        .get(moment)?.at ?? undefined
    );
  }

  /** Reads the items after `after` and up to `to` (epoch milliseconds), in their order and in pages. */
  *#pages(after: number, to: number): Generator<readonly Item[]> {
    const read = this.#view.$client.prepare<[object], Item & { rowid: number }>(`
      SELECT rowid, at, kind, ref, address_id, place FROM history
      WHERE at > @after AND at <= @to AND at >= @at AND (at, kind, ifnull(ref, 0), rowid) > (@at, @kind, @ref, @rowid)
      ORDER BY at, kind, ifnull(ref, 0), rowid LIMIT ${ITEMS_AT_ONCE}`);
    let last: Record<'at' | 'kind' | 'ref' | 'rowid', number> = { at: after, kind: 0, ref: 0, rowid: 0 };
    for (;;) {
      const items = read.all({ after, to, ...last });
      if (items.length > 0) yield items;
      const lastItem = items.at(-1);
      if (lastItem === undefined || items.length < ITEMS_AT_ONCE) return;
      last = { at: lastItem.at, kind: lastItem.kind, ref: lastItem.ref ?? 0, rowid: lastItem.rowid };
    }
  }

  /** Applies all items after `after` and up to `to` (epoch milliseconds), and records them for the automation. */
  play(after: number, to: number): void {
    for (const items of this.#pages(after, to)) for (const batch of inBatches(items)) this.#apply(batch);
  }

  /** Writes a batch of items to the tables, and records them for the automation, each item with its own time. */
  #apply(batch: Batch): void {
    const client = this.#view.$client;
    const before =
      client.prepare<[], { id: number }>('SELECT ifnull(max(id), 0) AS id FROM membership_changes').get()?.id ?? 0;
    const now = Math.max(...batch.items.map(({ at }) => at));
    const changed = this.#write(batch);
    this.#record(batch.kind, changed, now);
    // With the GROUP BY and the plus before the id, SQLite makes an index on the addresses for this statement and finds the changes by it.
    // Without them, it would find the changes by their ids, and read all items again for each change.
    client
      .prepare<[object]>(`
        UPDATE temp.membership_changes SET happened_at = i.at
        FROM (SELECT value ->> 'address_id' AS address_id, max(value ->> 'at') AS at FROM json_each(@items) GROUP BY 1) i
        WHERE +membership_changes.id > @before AND membership_changes.address_id = i.address_id`)
      .run({ items: JSON.stringify(batch.items), before });
  }

  /** Writes the items to the tables. Returns the items that changed something. */
  #write({ kind, items }: Batch): readonly Item[] {
    const client = this.#view.$client;
    const { user_id: account } = this.#scope.automation;
    const json = JSON.stringify(items.map((item) => ({ ...item, stamp: isoTimestamp(new Date(item.at)) })));
    const run = (text: string) => {
      client.prepare<[object]>(text).run({ items: json });
      return items;
    };
    /** Runs a statement that returns the addresses that it changed. Returns the items of these addresses. */
    const changed = (text: string) => {
      const rows = client.prepare<[object], { address_id: number }>(text).all({ items: json });
      const addresses = new Set(rows.map(({ address_id }) => address_id));
      return items.filter(({ address_id }) => addresses.has(address_id));
    };
    switch (kind) {
      case 'joins':
        return run(`
          INSERT INTO temp.contacts (${this.#contactColumns})
          SELECT ${this.#joinColumns} FROM json_each(@items) i CROSS JOIN main.contacts c ON c.id = i.value ->> 'ref' WHERE true
          ON CONFLICT (id) DO UPDATE SET contact_type_id = excluded.contact_type_id, deleted_at = NULL ON CONFLICT DO NOTHING`);
      case 'leaves':
        return changed(`
          UPDATE temp.contacts SET deleted_at = i.value ->> 'stamp' FROM json_each(@items) i
          WHERE contacts.id = i.value ->> 'ref' AND contact_type_id = i.value ->> 'place' AND deleted_at IS NULL RETURNING address_id`);
      case 'joins_segment':
        return changed(`
          INSERT INTO temp.segment_recipients (user_id, segment_id, address_id, contact_id, by_hand, first_name, last_name, email, created_at, updated_at)
          SELECT g.user_id, g.id, a.id, ifnull(r.contact_id, (SELECT k.id FROM contacts k
              WHERE k.contact_type_id = g.contact_type_id AND k.address_id = a.id AND k.deleted_at IS NULL)),
            ifnull(r.by_hand, 0), ifnull(r.first_name, ''), ifnull(r.last_name, ''), ifnull(r.email, a.normalized_email),
            i.value ->> 'stamp', i.value ->> 'stamp'
          FROM json_each(@items) i CROSS JOIN segments g ON g.id = i.value ->> 'place' CROSS JOIN addresses a ON a.id = i.value ->> 'address_id'
            LEFT JOIN main.segment_recipients r ON r.id = i.value ->> 'ref'
          WHERE true ON CONFLICT (segment_id, address_id) DO UPDATE SET is_removed = 0 WHERE is_removed = 1 RETURNING address_id`);
      case 'leaves_segment':
        return changed(`
          DELETE FROM temp.segment_recipients WHERE is_removed = 0 AND (segment_id, address_id) IN (
            SELECT i.value ->> 'place', i.value ->> 'address_id' FROM json_each(@items) i) RETURNING address_id`);
      case 'unsubscribes':
        return run(`
          INSERT INTO temp.unsubscribers (user_id, unsubscribe_groups_id, address_id, email_address, created_at, updated_at)
          SELECT ${account}, nullif(i.value ->> 'place', 0), i.value ->> 'address_id', '', i.value ->> 'stamp', i.value ->> 'stamp'
          FROM json_each(@items) i WHERE true ON CONFLICT DO NOTHING`);
      case 'resubscribes':
        return run(`
          DELETE FROM temp.unsubscribers WHERE id IN (
            SELECT u.id FROM json_each(@items) i CROSS JOIN unsubscribers u ON u.address_id = i.value ->> 'address_id'
              AND ifnull(u.unsubscribe_groups_id, 0) = i.value ->> 'place')`);
      case 'suppressed':
        return run(`
          INSERT INTO temp.suppressions SELECT s.* FROM json_each(@items) i CROSS JOIN main.suppressions s ON s.id = i.value ->> 'ref'
          WHERE true ON CONFLICT DO NOTHING`);
      case 'inactive':
        return run(`
          INSERT INTO temp.sunset_people (id, user_id, address_id, action, cutoff, created_at)
          SELECT s.id, s.user_id, s.address_id, s.action, s.cutoff, s.created_at
          FROM json_each(@items) i CROSS JOIN main.sunset_people s ON s.id = i.value ->> 'ref'`);
      case 'active':
        return run(`
          UPDATE temp.sunset_people SET lifted_at = i.value ->> 'stamp' FROM json_each(@items) i WHERE sunset_people.id = i.value ->> 'ref'`);
      case 'mail':
        // The ids of mailings of the file become negative, so that they differ from the ids of mailings of the view.
        return run(`
          INSERT INTO temp.deliveries (mailing_id, address_id, state, updated_at, counts_to_caps, run)
          SELECT -d.mailing_id, d.address_id, ${DELIVERY_STATE.accepted}, i.value ->> 'at', 1, d.run
          FROM json_each(@items) i CROSS JOIN main.deliveries d ON d.id = i.value ->> 'ref' WHERE true ON CONFLICT DO NOTHING`);
      case 'event':
        return run(`
          INSERT INTO temp.contact_events (user_id, address_id, name_id, happened_at, event_key, value, currency, properties)
          SELECT v.user_id, v.address_id, v.name_id, v.happened_at, v.event_key, v.value, v.currency, v.properties
          FROM json_each(@items) i CROSS JOIN main.contact_events v ON v.id = i.value ->> 'ref' WHERE true ORDER BY i.key ON CONFLICT DO NOTHING`);
      case 'form':
        return items;
    }
  }

  /** Records items of one kind for the automation, as the live service does. `now`: epoch milliseconds. */
  #record(kind: Kind, items: readonly Item[], now: number): void {
    if (items.length === 0) return;
    const db = this.#view;
    const stamp = isoTimestamp(new Date(now));
    const { user_id: account, trigger_form_id: form } = this.#scope.automation;
    switch (kind) {
      case 'joins':
      case 'leaves': {
        const change = kind === 'joins' ? 'joined' : 'left';
        for (const [id, itemsOfPlace] of Map.groupBy(items, ({ place }) => place)) {
          const people = itemsOfPlace.map(({ ref, address_id }) => ({ address_id, contact_id: ref }));
          recordMembershipChange(db, { table: 'contacts', id }, change, peopleOf(people), stamp);
        }
        return;
      }
      case 'joins_segment':
      case 'leaves_segment': {
        const change = kind === 'joins_segment' ? 'joined' : 'left';
        for (const [id, itemsOfPlace] of Map.groupBy(items, ({ place }) => place)) {
          const people = itemsOfPlace.map(({ address_id }) => ({
            address_id,
            contact_id: this.#contactInSegment(id, address_id),
          }));
          recordMembershipChange(db, { table: 'segments', id }, change, peopleOf(people), stamp);
        }
        return;
      }
      case 'event': {
        const newest =
          db.$client.prepare<[], { id: number }>('SELECT max(id) AS id FROM contact_events').get()?.id ?? 0;
        const added = { after: newest - items.length, nameIds: this.#nameIds, now };
        startAutomations(db.$client, account, added);
        wakeWaiting(db.$client, account, added);
        return;
      }
      case 'form':
        for (const { address_id } of items) {
          const contact = db.$client
            .prepare<[number | null, number], { id: number }>(`
              SELECT id FROM contacts WHERE contact_type_id = (SELECT contact_type_id FROM forms WHERE id = ?)
              AND address_id = ? AND deleted_at IS NULL`)
            .get(form, address_id);
          if (contact !== undefined)
            recordFormConfirmed(db, { id: form ?? 0, user_id: account }, { address_id, contact_id: contact.id }, stamp);
        }
    }
  }

  /** Returns the id of the contact with an address in a segment; null if the segment has no such contact. */
  #contactInSegment(segment: number, address: number): number | null {
    const row = this.#view.$client
      .prepare<[number, number], { contact_id: number | null }>(
        'SELECT contact_id FROM segment_recipients WHERE segment_id = ? AND address_id = ?',
      )
      .get(segment, address);
    return row?.contact_id ?? null;
  }
}

/** Items of one kind. A contact has at most one item in a batch, except for several events of the same millisecond. */
interface Batch {
  kind: Kind;
  items: Item[];
}

/** Puts items into batches that keep the order of the items of each contact. */
function inBatches(items: readonly Item[]): Batch[] {
  const batches: Batch[] = [];
  const lastOfContact = new Map<number, { batch: number; item: Item }>();
  const lastOfKind = new Map<Kind, number>();
  for (const item of items) {
    const kind = KINDS[item.kind];
    if (kind === undefined) continue;
    const before = lastOfContact.get(item.address_id);
    const isSimultaneous = kind === 'event' && before?.item.kind === item.kind && before.item.at === item.at;
    const earliest = before === undefined ? 0 : before.batch + (isSimultaneous ? 0 : 1);
    let batch = lastOfKind.get(kind) ?? -1;
    if (batch < earliest) {
      batch = batches.push({ kind, items: [] }) - 1;
      lastOfKind.set(kind, batch);
    }
    batches[batch]?.items.push(item);
    lastOfContact.set(item.address_id, { batch, item });
  }
  return batches;
}
