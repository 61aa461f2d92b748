/** Writes down what undoing an import needs, inside the transactions of the import. */
import type { Database, Statement } from 'better-sqlite3';
import type { Db } from '../../database/open.ts';
import type { Recipient } from '../segments/membership.ts';
import { type ImportOptions, valueAfter } from './import-options.ts';

/** Rows of temp.sorted after one up to another. */
export interface Chunk {
  user: number;
  after: number;
  until: number;
}

interface Recorded {
  id: number;
  typeId: number;
  columns: readonly string[];
  options: ImportOptions;
}

const INSERT = 'INSERT OR IGNORE INTO import_changes (import_id, address_id, kind, row_id, before)';

export class UndoRecorder {
  readonly #id: number;
  readonly #typeId: number;
  readonly #contacts: Statement;
  readonly #added: Statement<[number, number, number]>;
  readonly #row: Statement;
  readonly #client: Database;

  constructor(db: Db, { id, typeId, columns, options }: Recorded) {
    const client = db.$client;
    this.#client = client;
    this.#id = id;
    this.#typeId = typeId;
    this.#contacts = client.prepare(`
      ${INSERT} SELECT @import, a.id, 'contact', c.id, ${imageBefore(columns, options)}
      FROM sorted CROSS JOIN addresses a ON a.user_id = @user AND a.normalized_email = sorted.normalized
        CROSS JOIN contacts c ON c.contact_type_id = @type AND c.address_id = a.id AND c.deleted_at IS NULL
      WHERE sorted.rowid > @after AND sorted.rowid <= @until`);
    this.#added = client.prepare('INSERT INTO import_added (import_id, first_id, last_id) VALUES (?, ?, ?)');
    // A row that was written down already has its state before the import there.
    this.#row = client.prepare(`${INSERT} VALUES (@import, @address, @kind, @row, @before)`);
  }

  /** Call before the contacts of the chunk are changed. */
  contactsBefore(chunk: Chunk): void {
    this.#contacts.run({ ...chunk, import: this.#id, type: this.#typeId });
  }

  /** Contacts with ids after `before` up to `last` were added; in the same transaction nobody else adds any. */
  added(before: number, last: number): void {
    if (last > before) this.#added.run(this.#id, before + 1, last);
  }

  /** Recipients of segments as they were before the import removed or changed them. */
  membersBefore(rows: readonly Recipient[]): void {
    for (const row of rows) this.#record(row.address_id, 'member', row.id, JSON.stringify(row));
  }

  /** Rows with ids after `before` were added by the import to the recipients of a segment or to the unsubscribed. */
  rowsAdded(table: 'segment_recipients' | 'unsubscribers', before: number): void {
    const kind = table === 'unsubscribers' ? 'unsubscribed' : 'member';
    this.#client
      .prepare(`${INSERT} SELECT ?, address_id, '${kind}', id, NULL FROM ${table} WHERE id > ?`)
      .run(this.#id, before);
  }

  #record(address: number, kind: string, row: number, before: string): void {
    this.#row.run({ import: this.#id, address, kind, row, before });
  }
}

/** The columns of contact `c` that the row `sorted` changes, as they are before, as SQL for JSON. */
function imageBefore(columns: readonly string[], options: ImportOptions): string {
  const parts = columns.map((column) => {
    const image = `',"${column}":' || json_quote(c.${column})`;
    // Comparing custom values would merge them once more.
    if (column === 'custom_values') return image;
    const after =
      column === 'email' ? 'ifnull(sorted.email, sorted.normalized)' : valueAfter(column, options, 'sorted', 'c');
    return `iif(${after} IS c.${column}, '', ${image})`;
  });
  return [`'{"updated_at":' || json_quote(c.updated_at)`, ...parts, "'}'"].join(' || ');
}
