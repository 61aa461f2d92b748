/**
 * Lets contacts enter automations on a date in one of their fields. Every quarter of an hour, an index finds the contacts
 * whose date is about today. A contact enters if the hour of the trigger has come in the contact's time zone since the last
 * look. All time zones differ from UTC by whole quarters of an hour, so every contact enters at the full hour. If the
 * time zone of a contact changes, the contact is looked at again, and enters late if the hour has passed in the new zone
 * within the last day. A contact who was added after the hour does not enter.
 */
import type { Database } from 'better-sqlite3';
import type { Config } from '../config.ts';
import type { Db } from '../database/open.ts';
import { AUTOMATION_STATUS, type automations } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { FIRST_ZONE } from '../delivery/timing/local-times.ts';
import { findZone, type Place, placeColumns } from '../delivery/timing/place-zones.ts';
import { type Clock, dayOf } from '../time/clock.ts';
import { addDays, toUtc, yearlyDays } from '../time/zones.ts';
import { DAY_MS } from '../units.ts';

/** The interval between two looks at the dates, in milliseconds. */
export const DATE_STEP_MS = 900_000;
/** Contacts enter by hours of the trigger up to this many milliseconds ago. An earlier hour, while the service was down, starts nothing. */
const MAX_AGE_MS = DAY_MS;
/** The time zone in which each hour comes last. */
const LAST_ZONE = 'Etc/GMT+12';
/** The number of contacts whose dates are read or added at once, which takes some milliseconds. */
const PAGE_ROWS = 1000;
/** How often one transaction looks at a contact whose time zone has changed: once for each automation on a date of the contact. */
const REZONED_LOOKS = 250;

type DatedAutomation = Pick<
  typeof automations.$inferSelect,
  | 'id'
  | 'user_id'
  | 'automation_for'
  | 'automation_for_table'
  | 'trigger_days'
  | 'trigger_before'
  | 'trigger_hour'
  | 'trigger_yearly'
> & { trigger_field_id: number; dates_checked_to: number; dates_since: number; is_field_gone: 0 | 1 };

const DATED_COLUMNS = `
  SELECT id, user_id, automation_for, automation_for_table, trigger_field_id, trigger_days, trigger_before, trigger_hour, trigger_yearly, dates_checked_to,
    dates_since, NOT EXISTS (SELECT 1 FROM custom_fields f WHERE f.id = trigger_field_id) AS is_field_gone
  FROM automations`;
const IS_DATED = `trigger_kind = 'date' AND status = ${AUTOMATION_STATUS.live} AND deleted_at IS NULL`;

/** SQL: the live automations whose dates are still to be looked at up to @to, except those whose field is still being filled. */
export const DATED = `${DATED_COLUMNS} INDEXED BY automations_dates
  WHERE ${IS_DATED} AND dates_checked_to < @to
    AND NOT EXISTS (SELECT 1 FROM dated_fields d WHERE d.field_id = trigger_field_id AND d.filled_to IS NOT NULL)`;

/** A day on which contacts enter. */
interface Day {
  /** The date (YYYY-MM-DD) of the day in the time zone of the contact. */
  date: string;
  /** The date (YYYY-MM-DD) in the contact's field for which the contact enters on this day, for example some days later. */
  meant: string;
  /** The month and day (MM-DD) by which the index finds the contacts. */
  day: string;
}

/**
 * How far the dates of an automation have been looked at. A kill loses this progress. Then entries are recorded again, and
 * their keys prevent a contact from entering twice.
 */
interface Look {
  /** Epoch milliseconds. Contacts enter whose hour of the trigger comes after this moment. */
  from: number;
  /** Epoch milliseconds. Contacts enter whose hour of the trigger comes up to this moment. */
  to: number;
  days: Day[];
  /** The index in `days` of the day that is being looked at. */
  at: number;
  /** The id of the last contact who was looked at on that day. */
  after: number;
}

/** A contact with a date. `added_at`: epoch milliseconds. `fits`: 1 if the contact is in the target and the date is the one that is meant. */
type Row = Place & { contact_id: number; address_id: number | null; added_at: number | null; fits: 0 | 1 };

/** Finds the contacts who enter by a date, and records their entries. */
export class DateEntries {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #zone: string;
  readonly #looks = new Map<number, Look>();
  /** The id of the account whose contacts with a changed time zone were looked at last. */
  #rezonedAccount = 0;

  /** `config.TIME_ZONE` is the time zone of contacts whose own time zone is unknown. */
  constructor({ db, clock, config }: { db: Db; clock: Clock; config: Config }) {
    this.#db = db;
    this.#clock = clock;
    this.#zone = config.TIME_ZONE;
  }

  /** Continues while `goesOn` returns true. Returns true if there is more to do. */
  step(goesOn: () => boolean): boolean {
    const client = this.#db.$client;
    const now = this.#clock.now().getTime();
    const to = now - (now % DATE_STEP_MS);
    for (const automation of client.prepare<[object], DatedAutomation>(DATED).all({ to }))
      while (this.#continue(automation, to)) if (!goesOn()) return true;
    // The due dates of all accounts come first, because filling fields and looking at changed time zones can take long for one account.
    return fillFields(client) || this.#lookAtRezoned(to);
  }

  /**
   * Looks at some contacts of the next account whose time zone has changed, and lets those enter late for whom the hour of a
   * trigger has passed in the new zone. Returns false if no account has such contacts.
   */
  #lookAtRezoned(to: number): boolean {
    const client = this.#db.$client;
    const next = client
      .prepare<[number], number | null>('SELECT min(user_id) FROM rezoned_contacts WHERE user_id > ?')
      .pluck();
    const account = next.get(this.#rezonedAccount) ?? next.get(0) ?? null;
    if (account === null) return false;
    this.#rezonedAccount = account;
    inTransaction(this.#db, () => {
      const field = client
        .prepare<[number], number>('SELECT min(field_id) FROM rezoned_contacts WHERE user_id = ?')
        .pluck()
        .get(account);
      const dated = `${DATED_COLUMNS} INDEXED BY automations_user WHERE user_id = @account AND trigger_field_id = @field AND ${IS_DATED}`;
      const automations = client.prepare<[object], DatedAutomation>(dated).all({ account, field });
      const contacts = JSON.stringify(
        client
          .prepare<[object], number>(`
          DELETE FROM rezoned_contacts WHERE user_id = @account AND field_id = @field AND contact_id IN (
            SELECT contact_id FROM rezoned_contacts WHERE user_id = @account AND field_id = @field ORDER BY contact_id LIMIT @rows)
          RETURNING contact_id`)
          .pluck()
          .all({ account, field, rows: Math.ceil(REZONED_LOOKS / Math.max(1, automations.length)) }),
      );
      for (const automation of automations) {
        const from = Math.max(automation.dates_since, to - MAX_AGE_MS);
        if (automation.is_field_gone === 1) continue;
        for (const day of daysBetween(automation, from, to)) {
          const { entering } = readDay(client, automation, day, { from, to, after: 0 }, this.#zone, contacts);
          if (entering.length > 0) this.#record(automation, day.meant, entering);
        }
      }
    });
    return true;
  }

  /** Looks at the next contacts of an automation. Returns false once all have been looked at. */
  #continue(automation: DatedAutomation, to: number): boolean {
    const { id, dates_checked_to } = automation;
    const known = this.#looks.get(id);
    const from = Math.max(dates_checked_to, to - MAX_AGE_MS);
    // A change of the trigger sets `dates_checked_to`, so a known look with another `from` is out of date.
    const look = known?.from === from ? known : { from, to, days: daysBetween(automation, from, to), at: 0, after: 0 };
    this.#looks.set(id, look);
    const day = automation.is_field_gone === 1 ? undefined : look.days[look.at];
    if (day === undefined) {
      this.#db.$client
        .prepare('UPDATE automations SET dates_checked_to = ? WHERE id = ? AND dates_checked_to = ?')
        .run(look.to, id, dates_checked_to);
      this.#looks.delete(id);
      return false;
    }
    const { rows, entering } = readDay(this.#db.$client, automation, day, look, this.#zone);
    if (entering.length > 0) this.#record(automation, day.meant, entering);
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) [look.at, look.after] = [look.at + 1, 0];
    else look.after = last.contact_id;
    return true;
  }

  /** Records entries in an automation, which enrolment applies. `key` is the date by which the contacts enter. */
  #record({ id, user_id }: DatedAutomation, key: string, entering: readonly Entering[]): void {
    inTransaction(this.#db, () => {
      this.#db.$client
        .prepare<[object]>(`
        INSERT INTO membership_changes (user_id, automation_id, address_id, contact_id, change, event_key, happened_at)
        SELECT @user_id, @id, value ->> 1, value ->> 0, 'joined', @key, value ->> 2
        FROM json_each(@entering) CROSS JOIN contacts c ON c.id = value ->> 0`)
        .run({ user_id, id, key, entering: JSON.stringify(entering) });
    });
  }
}

/** The ids of a contact for whom the hour of a trigger came, and of the contact's address, and the moment of the hour in epoch milliseconds. */
type Entering = [contact: number, address: number | null, moment: number];

/**
 * Returns the next contacts with a date on a day, and as `entering` those of them who fit the trigger, for whom its hour came between
 * `from` and `to`, and who had been added by then.
 * @param zoneOfOthers The time zone of contacts whose own time zone is unknown.
 * @param only The ids of the contacts to look at, as JSON. If absent, looks at all contacts.
 */
function readDay(
  client: Database,
  automation: Omit<DatedAutomation, 'dates_checked_to' | 'dates_since' | 'is_field_gone'>,
  { date, meant, day }: Day,
  { from, to, after }: Pick<Look, 'from' | 'to' | 'after'>,
  zoneOfOthers: string,
  only?: string,
): { rows: Row[]; entering: Entering[] } {
  const { user_id, automation_for: target, automation_for_table: table, trigger_field_id: field } = automation;
  const isMember =
    table === 'contacts'
      ? 'c.contact_type_id = @target'
      : `EXISTS (SELECT 1 FROM segments g CROSS JOIN segment_recipients r ON r.segment_id = g.id AND r.address_id = c.address_id
          AND r.is_removed = 0 WHERE g.id = @target AND g.contact_type_id = c.contact_type_id)`;
  // A trigger of every year starts in the year of the contact's date.
  const isMeant = automation.trigger_yearly === 1 ? 'd.date <= @meant' : 'd.date = @meant';
  const rows = client
    .prepare<[object], Row>(`
    SELECT d.contact_id, c.address_id, unixepoch(c.created_at) * 1000 AS added_at, ifnull(c.deleted_at IS NULL AND ${isMeant} AND ${isMember}, 0) AS fits, ${placeColumns(client, user_id, 'c')}
    FROM (SELECT contact_id, date FROM contact_dates INDEXED BY contact_dates_day
      WHERE field_id = @field AND day = @day AND ${only === undefined ? 'contact_id > @after' : 'contact_id IN (SELECT value FROM json_each(@only))'}
      ORDER BY contact_id LIMIT ${PAGE_ROWS}) d
    LEFT JOIN contacts c ON c.id = d.contact_id ORDER BY d.contact_id`)
    .all({ field, day, after, meant, target, only });
  const moments = new Map<string, number>();
  const entering = rows.flatMap((row): Entering[] => {
    if (row.fits === 0) return [];
    const zone = findZone(row) ?? zoneOfOthers;
    const moment = moments.get(zone) ?? hourIn(zone, date, automation.trigger_hour);
    moments.set(zone, moment);
    return moment > from && moment <= to && moment >= (row.added_at ?? 0)
      ? [[row.contact_id, row.address_id, moment]]
      : [];
  });
  return { rows, entering };
}

/**
 * Finds the contacts who would have entered by their date after `from` and up to `to` (epoch milliseconds). Yields them in
 * parts, newest day first: in `looked` the number of dates looked at, and in `met` the ids of the contacts' addresses. Dates are
 * missing while `isFilled` is false. `zone` is the time zone of contacts whose own time zone is unknown.
 */
export function* datesOf(
  client: Database,
  { trigger_field_id, ...automation }: typeof automations.$inferSelect,
  { from, to }: { from: number; to: number },
  zone: string,
): Generator<{ looked: number; met: number[] }> {
  if (trigger_field_id === null) return;
  for (const day of daysBetween(automation, from, to).reverse()) {
    let after: number | undefined = 0;
    while (after !== undefined) {
      const { rows, entering } = readDay(client, { ...automation, trigger_field_id }, day, { from, to, after }, zone);
      yield { looked: rows.length, met: entering.flatMap(([, address]) => address ?? []) };
      after = rows.length < PAGE_ROWS ? undefined : rows.at(-1)?.contact_id;
    }
  }
}

/** Returns the days on which the hour of a trigger comes after `from` and up to `to` (epoch milliseconds) in at least one time zone. */
function daysBetween(
  {
    trigger_days,
    trigger_before,
    trigger_hour,
    trigger_yearly,
  }: Omit<DatedAutomation, 'trigger_field_id' | 'dates_checked_to' | 'dates_since' | 'is_field_gone'>,
  from: number,
  to: number,
): Day[] {
  const days: Day[] = [];
  const last = addDays(dayOf(to), 1);
  for (let date = addDays(dayOf(from), -1); date <= last; date = addDays(date, 1)) {
    if (hourIn(LAST_ZONE, date, trigger_hour) <= from || hourIn(FIRST_ZONE, date, trigger_hour) > to) continue;
    const meant = addDays(date, trigger_before === 1 ? trigger_days : -trigger_days);
    for (const day of trigger_yearly === 1 ? yearlyDays(meant) : [meant.slice(5)]) days.push({ date, meant, day });
  }
  return days;
}

/** Returns the moment of a full hour (0 to 23) on a date in a time zone, in epoch milliseconds. */
function hourIn(zone: string, date: string, hour: number): number {
  return toUtc(date, `${String(hour).padStart(2, '0')}:00:00`, zone).getTime();
}

/** Returns true if `contact_dates` holds the dates of all contacts in this field. A field is filled after it becomes a trigger. */
export function isFilled(client: Database, field: number | null): boolean {
  return (
    client.prepare('SELECT 1 FROM dated_fields WHERE field_id = ? AND filled_to IS NOT NULL').get(field) === undefined
  );
}

/** Adds the dates of the next contacts to `contact_dates` for a field that became a trigger. Returns false if no field is being filled. */
function fillFields(client: Database): boolean {
  const field = client
    .prepare<[], { field_id: number; user_id: number; filled_to: number }>(
      'SELECT field_id, user_id, filled_to FROM dated_fields WHERE filled_to IS NOT NULL LIMIT 1',
    )
    .get();
  if (field === undefined) return false;
  client
    .transaction(() => {
      const ids = client
        .prepare<[object], number>(`
        SELECT id FROM contacts INDEXED BY contacts_user WHERE user_id = @user_id AND deleted_at IS NULL AND id > @filled_to
        ORDER BY id LIMIT ${PAGE_ROWS}`)
        .pluck()
        .all(field);
      client
        .prepare<[object]>(`
        INSERT INTO contact_dates (contact_id, field_id, day, date) SELECT contact_id, field_id, day, date FROM contact_date_values
        WHERE contact_id IN (SELECT value FROM json_each(@ids)) AND field_id = @field_id ON CONFLICT DO NOTHING`)
        .run({ field_id: field.field_id, ids: JSON.stringify(ids) });
      const filled = ids.length < PAGE_ROWS ? null : (ids.at(-1) ?? null);
      client.prepare('UPDATE dated_fields SET filled_to = ? WHERE field_id = ?').run(filled, field.field_id);
    })
    .immediate();
  return true;
}
