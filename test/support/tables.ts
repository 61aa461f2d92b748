/** Every row of every table: to show that a request changed nothing, and to put everything back after one that did. */
import { isDeepStrictEqual } from 'node:util';
import type { Statement } from 'better-sqlite3';
import type { TestApp } from './app.ts';

/** The rows by table. */
export type Dump = ReadonlyMap<string, readonly unknown[][]>;

/** Reference data that only the seed writes; large, so looked at by its counts alone. */
const SEEDED = new Set(['countries', 'states', 'cities', 'design_templates']);

/** Changes with requests that change nothing else: when a key pair was last used. */
const LAST_USED = 'last_used_at';

export class Tables {
  readonly #db: TestApp['db'];
  /** What reads each table, prepared once: there are many tables, and they are read after each request that writes. */
  readonly #readers: ReadonlyMap<string, Statement<[], unknown[]>>;
  /** Tells of each table, in the order of the readers, whether it has a row: most have none, and each statement costs as much as some rows. */
  readonly #filled: Statement<[], (0 | 1)[]>;
  #origin: Dump;
  #latest: { stamp: string; dump: Dump };

  /** Remembers the rows as they are now. */
  constructor(db: TestApp['db']) {
    this.#db = db;
    const names = db
      .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .pluck()
      .all();
    const columnsOf = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck();
    const wanted = (name: string) =>
      SEEDED.has(name)
        ? ['count(*)', 'max(id)']
        : columnsOf.all(name).map((column) => (column === LAST_USED ? 'NULL' : `"${column}"`));
    const reader = (name: string) => db.prepare<[], unknown[]>(`SELECT ${wanted(name).join()} FROM "${name}"`).raw();
    this.#readers = new Map(names.map((name) => [name, reader(name)]));
    this.#filled = db
      .prepare<[], (0 | 1)[]>(`SELECT ${names.map((name) => `EXISTS (SELECT 1 FROM "${name}")`).join()}`)
      .raw();
    this.#origin = this.#read();
    this.#latest = { stamp: this.#stamp(), dump: this.#origin };
  }

  /** Takes the rows as they are now for the origin. */
  remember(): void {
    this.#origin = this.dump();
  }

  /** All rows, in order. */
  dump(): Dump {
    const stamp = this.#stamp();
    if (stamp !== this.#latest.stamp) this.#latest = { stamp, dump: this.#read() };
    return this.#latest.dump;
  }

  /** The names of the tables that differ from the origin. */
  changed(): string[] {
    const now = this.dump();
    if (now === this.#origin) return [];
    return [...now.keys()].filter((table) => !isDeepStrictEqual(now.get(table), this.#origin.get(table)));
  }

  /** Puts every row back to the origin, the counters of AUTOINCREMENT included. */
  rewind(): void {
    const changed = this.changed();
    if (changed.length === 0) return;
    this.#db.pragma('foreign_keys = OFF');
    this.#db.transaction(() => this.#restore(changed))();
    this.#db.pragma('foreign_keys = ON');
    const left = changed.filter((name) => !isDeepStrictEqual(this.#readers.get(name)?.all(), this.#origin.get(name)));
    if (left.length > 0) throw new Error(`not put back: ${left.join(', ')}`);
    this.#latest = { stamp: this.#stamp(), dump: this.#origin };
  }

  #restore(changed: string[]): void {
    const triggers = this.#db
      .prepare<[string], { name: string; sql: string }>(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name IN (SELECT value FROM json_each(?))",
      )
      .all(JSON.stringify(changed));
    for (const { name } of triggers) this.#db.exec(`DROP TRIGGER "${name}"`);
    // The counters last: every insert moves them.
    for (const table of changed.sort((a, b) => Number(a === 'sqlite_sequence') - Number(b === 'sqlite_sequence'))) {
      this.#db.exec(`DELETE FROM "${table}"`);
      const rows = this.#origin.get(table) ?? [];
      if (rows[0] === undefined) continue;
      const insert = this.#db.prepare(`INSERT INTO "${table}" VALUES (${rows[0].map(() => '?').join(', ')})`);
      for (const row of rows) insert.run(...row);
    }
    for (const { sql } of triggers) this.#db.exec(sql);
  }

  #read(): Dump {
    const filled = this.#filled.get() ?? [];
    return new Map([...this.#readers].map(([name, reader], at) => [name, filled[at] === 1 ? reader.all() : []]));
  }

  /** Moves with every write of this connection and with every commit of another. */
  #stamp(): string {
    const own = this.#db.prepare('SELECT total_changes()').pluck().get();
    return `${own} ${this.#db.pragma('data_version', { simple: true })}`;
  }
}

/** UUIDs, keys in hexadecimal, and the ten digits of `rand_id`. */
const DRAWN = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{16,}\b|"\d{10}"/g;

/** A text or dump without what is drawn by lot, so that two can be compared. */
export function withoutChance(content: string | Dump): string {
  return (typeof content === 'string' ? content : JSON.stringify([...content])).replace(DRAWN, '"drawn"');
}
