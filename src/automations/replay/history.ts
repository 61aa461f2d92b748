/**
 * Reads the history of an account as far as it concerns an automation: who joined and left its lists and segments, which events happened,
 * and who unsubscribed, was suppressed or got other mails. The history is read from the file in short reads, so that the service can move
 * its changes from the WAL into the file in between.
 */
import { readMailCaps } from '../../database/accounts.ts';
import type { Db } from '../../database/open.ts';
import { isReceivedOrUnderway } from '../../database/schema/index.ts';
import { MAX_CAP_DAYS } from '../../delivery/timing/mail-caps.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { DAY_MS } from '../../units.ts';
import type { Automation, ListedSchedule } from '../automations.ts';

/** The number of ids that one read of the file covers, which takes some milliseconds. */
const IDS_AT_ONCE = 20_000;
/** The maximum number of items in the replayed time. If there are more, the replay begins later. */
const MAX_ITEMS = 1_000_000;

/** The kinds of items, in the order in which items of the same millisecond happen. */
export const KINDS = [
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
export type Kind = (typeof KINDS)[number];
/** The index in `KINDS` of each kind. The history stores this index. */
const KIND = Object.fromEntries(KINDS.map((kind, at) => [kind, at])) as Record<Kind, number>;

/** Something that happened to a contact. */
export interface Item {
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
    const inList = (list: string) => `${list} IN (SELECT value FROM json_each(@lists))`;
    const joins = `SELECT ${ms('created_at')}, ${KIND.joins}, id, address_id, contact_type_id FROM main.contacts`;
    for (const list of this.#lists)
      this.#addInPages(
        `${joins} INDEXED BY contacts_type WHERE contact_type_id = ${list} AND deleted_at IS NULL AND id > @after AND id <= @last`,
        'contacts',
      );
    const deleted = `INDEXED BY contacts_deleted WHERE user_id = @account AND deleted_at IS NOT NULL AND deleted_at > @since
      AND ${inList('contact_type_id')}`;
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
        AND (${inList('from_type_id')} OR ${inList('to_type_id')})`,
      'contact_moves',
    );
    // The joins of moved contacts follow, with the list in which each contact was at the time.
    client
      .prepare(`DELETE FROM temp.history WHERE kind = ${KIND.joins} AND ref IN (SELECT contact_id FROM replay_moves)`)
      .run();
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
      WHERE d.address_id > @after AND d.address_id <= @last AND d.updated_at > ${since} AND d.counts_to_caps = 1 AND ${isReceivedOrUnderway('d.')}
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
export function eventsOf(automation: Automation, steps: readonly ListedSchedule[]): string[] {
  const starting = automation.trigger_kind === 'event' ? [automation.trigger_event] : [];
  const awaited = steps.flatMap(({ until, event }) => (until === 'event' ? (event ?? []) : []));
  return [...new Set([...starting, ...awaited])];
}
