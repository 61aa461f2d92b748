/** Every row of every table: to show that a request changed nothing, and to put everything back after one that did. */
import { isDeepStrictEqual } from 'node:util';
import type { TestApp } from './app.ts';

/** The rows by table. */
export type Dump = ReadonlyMap<string, readonly unknown[][]>;

/** Reference data that only the seed writes; large, so looked at by its counts alone. */
const SEEDED = new Set(['countries', 'states', 'cities']);

export class Tables {
  readonly #db: TestApp['db'];
  #origin: Dump;
  #latest: { stamp: string; dump: Dump };

  /** Remembers the rows as they are now. */
  constructor(db: TestApp['db']) {
    this.#db = db;
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
    if (changed.length > 0) {
      this.#db.pragma('foreign_keys = OFF');
      this.#db.transaction(() => this.#restore(changed))();
      this.#db.pragma('foreign_keys = ON');
      if (this.changed().length > 0) throw new Error(`not put back: ${this.changed().join(', ')}`);
    }
  }

  #restore(changed: string[]): void {
    const triggers = this.#db
      .prepare<[], { name: string; sql: string }>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
      .all();
    for (const { name } of triggers) this.#db.exec(`DROP TRIGGER "${name}"`);
    // The counters last: every insert moves them.
    for (const table of changed.sort((a, b) => Number(a === 'sqlite_sequence') - Number(b === 'sqlite_sequence'))) {
      this.#db.exec(`DELETE FROM "${table}"`);
      for (const row of this.#origin.get(table) ?? []) {
        this.#db.prepare(`INSERT INTO "${table}" VALUES (${row.map(() => '?').join(', ')})`).run(...row);
      }
    }
    for (const { sql } of triggers) this.#db.exec(sql);
  }

  #read(): Dump {
    const names = this.#db
      .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .pluck()
      .all();
    return new Map(
      names.map((name) => {
        const what = SEEDED.has(name) ? 'count(*), max(id)' : '*';
        return [name, this.#db.prepare<[], unknown[]>(`SELECT ${what} FROM "${name}"`).raw().all()];
      }),
    );
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
