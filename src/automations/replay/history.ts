/**
 * The history of an account as far as it concerns an automation: who joined and left its lists and segments, which events
 * happened, and who unsubscribed, was suppressed or got other mails. The history is read from the file in short reads, so that
 * the service can move its changes from the WAL into the file in between.
 */
import { startAutomations, wakeWaiting } from '../../audience/events/start-automations.ts';
import { peopleOf, recordFormConfirmed, recordMembershipChange } from '../../audience/segments/membership.ts';
import { readMailCaps } from '../../database/accounts.ts';
import type { Db } from '../../database/open.ts';
import { DELIVERY_STATE, IS_RECEIVED_OR_UNDERWAY } from '../../database/schema/index.ts';
import { MAX_CAP_DAYS } from '../../delivery/timing/mail-caps.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { DAY_MS } from '../../units.ts';
import type { Automation, ListedSchedule } from '../automations.ts';

/** The number of ids that one read of the file covers, which takes some milliseconds. */
const IDS_AT_ONCE = 20_000;
/** The number of items that are read from the history at once. */
const ITEMS_AT_ONCE = 5000;
/** The maximum number of items in the replayed time. If there are more, the replay begins later. */
const MAX_ITEMS = 1_000_000;

/** The kinds of items, in the order in which items of the same millisecond happen. */
const KINDS = [
  'leaves',
  'joins',
  'leaves_segment',
  'joins_segment',
  'resubscribes',
  'unsubscribes',
  'suppressed',
  'inactive',
  'active',
  'mail',
  'event',
  'form',
] as const;
type Kind = (typeof KINDS)[number];
/** The index in `KINDS` of each kind, which the history stores. */
const KIND = Object.fromEntries(KINDS.map((kind, at) => [kind, at]));

/** Something that happened to a contact. */
interface Item {
  /** Epoch milliseconds. */
  at: number;
  /** The index in `KINDS`. */
  kind: number;
  /** The id of the row of the file that the item is about, such as a contact or event; null if it is about no row. */
  ref: number | null;
  address_id: number;
  /** The id of the list, segment or unsubscribe group; 0 for other kinds, and for all mail. */
  place: number;
}

/** SQL: an ISO timestamp as epoch milliseconds. */
const ms = (timestamp: string) => `CAST(round(unixepoch(${timestamp}, 'subsec') * 1000) AS INTEGER)`;

/** The automation that is replayed, and the replayed time. */
export interface Scope {
  automation: Automation;
  steps: readonly ListedSchedule[];
  /** The beginning of the replayed time, epoch milliseconds. */
  from: number;
  /** The end of the replayed time, epoch milliseconds. */
  to: number;
}

/**
 * Reads the history into the table `history` of the view. Returns when the replay begins, in epoch milliseconds: at `from`, or later if more
 * than `MAX_ITEMS` items happened since then.
 */
export function readHistory(view: Db, scope: Scope): number {
  const client = view.$client;
  client.exec('CREATE TEMP TABLE history (at INTEGER, kind INTEGER, ref INTEGER, address_id INTEGER, place INTEGER)');
  new Reader(view, scope).read();
  client.exec('CREATE INDEX temp.history_order ON history (at, kind, ifnull(ref, 0))');
  const first = client
    .prepare<[object], number>('SELECT at FROM history WHERE at > @from ORDER BY at DESC LIMIT 1 OFFSET @most')
    .pluck()
    .get({ from: scope.from, most: MAX_ITEMS });
  return first ?? scope.from;
}

/** Reads the rows of the file that concern an automation into the table `history` of the view. */
class Reader {
  readonly #view: Db;
  readonly #scope: Scope;
  readonly #values: Record<string, number | string | null>;
  readonly #lists: readonly number[];
  readonly #segments: readonly number[];

  constructor(view: Db, scope: Scope) {
    const { automation, steps, from, to } = scope;
    this.#view = view;
    this.#scope = scope;
    this.#segments = segmentsOf(automation, steps);
    this.#lists = listsOf(view, automation, steps, this.#segments);
    this.#values = {
      account: automation.user_id,
      automation: automation.id,
      from,
      to,
      since: isoTimestamp(new Date(from)),
      lists: JSON.stringify(this.#lists),
      segments: JSON.stringify(this.#segments),
      group: Number(automation.unsubscribe_group_id),
    };
  }

  read(): void {
    this.#readContacts();
    this.#readSegments();
    this.#readConsent();
    this.#readMails();
    this.#readEvents();
    this.#removeOwnChanges();
  }

  /** Removes the changes that steps of the automation itself made while it was live, because the replay takes the steps again. */
  #removeOwnChanges(): void {
    const changes = ['leaves', 'joins', 'leaves_segment', 'joins_segment'] as const;
    this.#view.$client
      .prepare<[object]>(`
        DELETE FROM temp.history WHERE at > @from AND kind IN (${changes.map((kind) => KIND[kind]).join()}) AND EXISTS (
          SELECT 1 FROM main.enrolments e INDEXED BY enrolments_person CROSS JOIN main.steps t ON t.enrolment_id = e.id AND t.taken_at = history.at
            AND t.outcome = 'done'
          WHERE e.automation_id = @automation AND e.address_id = history.address_id)`)
      .run(this.#values);
  }

  /** Adds to the history what a SELECT returns: at, kind, ref, address_id and place. */
  #add(select: string): void {
    this.#view.$client.prepare<[object]>(`INSERT INTO temp.history ${select}`).run(this.#values);
  }

  /** Like `#add`, in several short reads. The SELECT takes the ids of `table` from above @after up to @last. */
  #addInPages(select: string, table: string): void {
    this.#runInPages(`INSERT INTO temp.history ${select}`, table);
  }

  /** Runs a statement once for each range of ids of a table, from above @after up to @last. */
  #runInPages(text: string, table: string): void {
    const client = this.#view.$client;
    const statement = client.prepare<[object]>(text);
    const newest = Number(client.prepare(`SELECT ifnull(max(id), 0) FROM main.${table}`).pluck().get());
    for (let after = 0; after < newest; after += IDS_AT_ONCE)
      statement.run({ ...this.#values, after, last: after + IDS_AT_ONCE });
  }

  /** Reads who was in the lists, and when. A contact who was moved was in several lists, one after the other. */
  #readContacts(): void {
    const client = this.#view.$client;
    const joins = `SELECT ${ms('created_at')}, ${KIND.joins}, id, address_id, contact_type_id FROM main.contacts`;
    for (const list of this.#lists)
      this.#addInPages(
        `${joins} INDEXED BY contacts_type WHERE contact_type_id = ${list} AND deleted_at IS NULL AND id > @after AND id <= @last`,
        'contacts',
      );
    const deleted = `INDEXED BY contacts_deleted WHERE user_id = @account AND deleted_at IS NOT NULL AND deleted_at > @since
      AND contact_type_id IN (SELECT value FROM json_each(@lists))`;
    this.#add(`${joins} ${deleted}`);
    this.#add(
      `SELECT ${ms('deleted_at')}, ${KIND.leaves}, id, address_id, contact_type_id FROM main.contacts ${deleted}`,
    );
    client.exec(
      'CREATE TEMP TABLE replay_moves (contact_id INTEGER, from_type_id INTEGER, to_type_id INTEGER, at INTEGER, move INTEGER)',
    );
    this.#runInPages(
      `INSERT INTO temp.replay_moves SELECT contact_id, from_type_id, to_type_id, ${ms('created_at')}, id FROM main.contact_moves
      WHERE id > @after AND id <= @last AND created_at > @since
        AND (from_type_id IN (SELECT value FROM json_each(@lists)) OR to_type_id IN (SELECT value FROM json_each(@lists)))`,
      'contact_moves',
    );
    // The joins of moved contacts follow, with the list in which each contact was at the time.
    client
      .prepare(`DELETE FROM temp.history WHERE kind = ${KIND.joins} AND ref IN (SELECT contact_id FROM replay_moves)`)
      .run();
    const inList = (list: string) => `${list} IN (SELECT value FROM json_each(@lists))`;
    const moved = 'FROM replay_moves v CROSS JOIN main.contacts c ON c.id = v.contact_id';
    this.#add(`SELECT ${ms('c.created_at')}, ${KIND.joins}, c.id, c.address_id, v.from_type_id ${moved}
      WHERE v.move = (SELECT min(o.move) FROM replay_moves o WHERE o.contact_id = v.contact_id) AND ${inList('v.from_type_id')}`);
    this.#add(
      `SELECT v.at, ${KIND.leaves}, c.id, c.address_id, v.from_type_id ${moved} WHERE ${inList('v.from_type_id')}`,
    );
    // Add joins of all other lists, too: a contact who was moved there still exists, and goes on in the automation unless leaving the
    // target ends it.
    this.#add(`SELECT v.at, ${KIND.joins}, c.id, c.address_id, v.to_type_id ${moved}`);
    this.#add(`SELECT DISTINCT ${ms('c.deleted_at')}, ${KIND.leaves}, c.id, c.address_id, c.contact_type_id ${moved}
      WHERE c.deleted_at IS NOT NULL AND NOT ${inList('c.contact_type_id')}`);
  }

  /** Reads who was in the segments, and when. */
  #readSegments(): void {
    for (const segment of this.#segments) {
      const rows = `main.segment_recipients INDEXED BY segment_recipients_person
        WHERE segment_id = ${segment} AND address_id > @after AND address_id <= @last`;
      this.#addInPages(
        `SELECT ${ms('ifnull(rejoined_at, created_at)')}, ${KIND.joins_segment}, id, address_id, segment_id FROM ${rows}`,
        'addresses',
      );
      this.#addInPages(
        `SELECT ${ms('updated_at')}, ${KIND.leaves_segment}, id, address_id, segment_id FROM ${rows} AND is_removed = 1`,
        'addresses',
      );
    }
    if (this.#segments.length === 0) return;
    const left = `main.segment_leaves WHERE id > @after AND id <= @last AND left_at > @since
      AND segment_id IN (SELECT value FROM json_each(@segments))`;
    this.#addInPages(
      `SELECT ${ms('joined_at')}, ${KIND.joins_segment}, NULL, address_id, segment_id FROM ${left}`,
      'segment_leaves',
    );
    this.#addInPages(
      `SELECT ${ms('left_at')}, ${KIND.leaves_segment}, NULL, address_id, segment_id FROM ${left}`,
      'segment_leaves',
    );
  }

  /** Reads who unsubscribed, who subscribed again, who confirmed the form, and who was suppressed or stopped as inactive. */
  #readConsent(): void {
    const { automation } = this.#scope;
    for (const isOfGroup of ['unsubscribe_groups_id IS NULL', 'unsubscribe_groups_id = @group'])
      this.#add(`SELECT ${ms('created_at')}, ${KIND.unsubscribes}, id, address_id, ifnull(unsubscribe_groups_id, 0)
        FROM main.unsubscribers WHERE user_id = @account AND ${isOfGroup}`);
    this.#addInPages(
      `SELECT ${ms('created_at')}, iif(action = 'unsubscribed', ${KIND.unsubscribes}, ${KIND.resubscribes}), NULL, address_id,
        ifnull(unsubscribe_groups_id, 0)
      FROM main.consent_log WHERE id > @after AND id <= @last AND user_id = @account AND action IN ('unsubscribed', 'resubscribed')
        AND (unsubscribe_groups_id IS NULL OR unsubscribe_groups_id = @group)`,
      'consent_log',
    );
    if (automation.trigger_kind === 'form')
      this.#addInPages(
        `SELECT ${ms('created_at')}, ${KIND.form}, NULL, address_id, 0 FROM main.consent_log
        WHERE id > @after AND id <= @last AND form_id = ${Number(automation.trigger_form_id)}`,
        'consent_log',
      );
    this.#add(
      `SELECT ${ms('created_at')}, ${KIND.suppressed}, id, address_id, 0 FROM main.suppressions WHERE user_id = @account`,
    );
    const inactive = `main.sunset_people WHERE id > @after AND id <= @last AND user_id = @account AND action = 'stop'`;
    this.#addInPages(
      `SELECT ${ms('created_at')}, ${KIND.inactive}, id, address_id, 0 FROM ${inactive}`,
      'sunset_people',
    );
    this.#addInPages(
      `SELECT ${ms('lifted_at')}, ${KIND.active}, id, address_id, 0 FROM ${inactive} AND lifted_at IS NOT NULL`,
      'sunset_people',
    );
  }

  /** Reads the other mails that count towards the frequency caps of the account. */
  #readMails(): void {
    if (readMailCaps(this.#view, this.#scope.automation.user_id).length === 0) return;
    const since = this.#scope.from - MAX_CAP_DAYS * DAY_MS;
    this.#addInPages(
      `SELECT d.updated_at, ${KIND.mail}, d.id, d.address_id, 0
      FROM main.deliveries d INDEXED BY deliveries_capped CROSS JOIN main.mailings m ON m.id = d.mailing_id
      WHERE d.address_id > @after AND d.address_id <= @last AND d.updated_at > ${since} AND d.counts_to_caps = 1 AND ${isReceivedOrUnderway('d')}
        AND m.user_id = @account AND m.automation_id IS NOT @automation`,
      'addresses',
    );
  }

  /** Reads the events that start the automation or are awaited in it, a day at a time. */
  #readEvents(): void {
    const { automation, steps, from, to } = this.#scope;
    const names = eventsOf(automation, steps);
    if (names.length === 0) return;
    const insert = this.#view.$client.prepare<[object]>(`
      INSERT INTO temp.history SELECT happened_at, ${KIND.event}, id, address_id, 0 FROM main.contact_events INDEXED BY contact_events_time
      WHERE happened_at > @after AND happened_at <= @last AND user_id = @account
        AND name_id IN (SELECT w.id FROM json_each(@names) CROSS JOIN main.event_words w ON w.user_id = @account AND w.word = value)
      ORDER BY id DESC LIMIT ${MAX_ITEMS}`);
    for (let after = from; after < to; after += DAY_MS)
      insert.run({
        account: automation.user_id,
        names: JSON.stringify(names),
        after,
        last: Math.min(to, after + DAY_MS),
      });
  }
}

/** SQL: `IS_RECEIVED_OR_UNDERWAY` for a delivery with this alias. */
function isReceivedOrUnderway(alias: string): string {
  return IS_RECEIVED_OR_UNDERWAY.replaceAll(/\b(state|first_tried_at)\b/g, `${alias}.$1`);
}

/** Returns the segments on which an automation depends. */
export function segmentsOf(automation: Automation, steps: readonly ListedSchedule[]): number[] {
  const target = automation.automation_for_table === 'segments' ? [automation.automation_for] : [];
  const named = [automation.goal_segment_id, automation.exit_segment_id, ...steps.map(({ segment_id }) => segment_id)];
  return [...new Set([...target, ...named.flatMap((id) => id ?? [])])];
}

/** Returns the lists on which an automation depends, including the lists of its segments. */
function listsOf(
  view: Db,
  automation: Automation,
  steps: readonly ListedSchedule[],
  segments: readonly number[],
): number[] {
  const target = automation.automation_for_table === 'contacts' ? [automation.automation_for] : [];
  const moved = steps.flatMap(({ contact_type_id }) => contact_type_id ?? []);
  const ofSegments = view.$client
    .prepare<[string], number>('SELECT contact_type_id FROM main.segments WHERE id IN (SELECT value FROM json_each(?))')
    .pluck()
    .all(JSON.stringify(segments));
  return [...new Set([...target, ...moved, ...ofSegments])];
}

/** Returns the names of the events that start an automation or are awaited in it. */
function eventsOf(automation: Automation, steps: readonly ListedSchedule[]): string[] {
  const starting = automation.trigger_kind === 'event' ? [automation.trigger_event] : [];
  const awaited = steps.flatMap(({ until, event }) => (until === 'event' ? (event ?? []) : []));
  return [...new Set([...starting, ...awaited])];
}

/** Lets the history happen in the tables of the view, in its order. */
export class Feed {
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

  /** Gives the view the state of the account at the beginning of the replay, without letting anybody enter. */
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

  /** Lets all items after `after` and up to `to` (epoch milliseconds) happen, and records them for the automation. */
  until(after: number, to: number): void {
    for (const items of this.#pages(after, to)) for (const batch of inBatches(items)) this.#happen(batch);
  }

  /** Writes a batch of items to the tables, and records them for the automation, each item with its own time. */
  #happen(batch: Batch): void {
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
    const isAtOnce = kind === 'event' && before?.item.kind === item.kind && before.item.at === item.at;
    const earliest = before === undefined ? 0 : before.batch + (isAtOnce ? 0 : 1);
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
