/**
 * The records that undoing an import needs. They are written in the transactions of the import. They refer to the contact's
 * address, so that erasing the contact finds them.
 */
import type { Database, Statement } from 'better-sqlite3';
import type { Recipient } from '../segments/membership.ts';

/** A range of rows of a staged table: those after the row `after`, up to `until`. `user` is the account. */
export interface Chunk {
  user: number;
  after: number;
  until: number;
}

const INSERT = 'INSERT OR IGNORE INTO import_changes (import_id, address_id, kind, row_id, before)';

/** Records what one import changes. */
export class UndoRecorder {
  readonly #id: number;
  readonly #added: Statement<[number, number, number]>;
  readonly #row: Statement;
  readonly #client: Database;

  /** Until `close`, a trigger also records every change that this connection makes to these columns of contacts. */
  constructor(client: Database, id: number, columns: readonly string[]) {
    this.#client = client;
    this.#id = id;
    // A trigger records the changes, because reading the contacts before they are changed takes longer. The trigger is temporary, so
    // that only this connection has it.
    client.exec(`
      CREATE TEMP TRIGGER import_contact_changed AFTER UPDATE ON contacts BEGIN
        INSERT INTO import_changes (import_id, address_id, kind, row_id, before)
        VALUES (${id}, old.address_id, 'contact', old.id, ${beforeImage(columns)});
      END`);
    this.#added = client.prepare('INSERT INTO import_added (import_id, first_id, last_id) VALUES (?, ?, ?)');
    // OR IGNORE keeps the first record of a row, which has the state before the import.
    this.#row = client.prepare(`${INSERT} VALUES (@import, @address, @kind, @row, @before)`);
  }

  /** Ends the recording of changed contacts. */
  close(): void {
    this.#client.exec('DROP TRIGGER temp.import_contact_changed');
  }

  /**
   * Records that the import added the contacts with ids after `before` up to `last`. Call it in the transaction that added them, in
   * which nobody else adds contacts.
   */
  recordAdded(before: number, last: number): void {
    if (last > before) this.#added.run(this.#id, before + 1, last);
  }

  /** Records members of segments as they were before the import removed or changed them. */
  recordMembers(rows: readonly Recipient[]): void {
    for (const row of rows) this.#record(row.address_id, 'member', row.id, JSON.stringify(row));
  }

  /** Records that the import added the rows with ids after `before` to the members of segments or to the unsubscribers. */
  recordRows(table: 'segment_recipients' | 'unsubscribers', before: number): void {
    const kind = table === 'unsubscribers' ? 'unsubscribed' : 'member';
    this.#client
      .prepare(`${INSERT} SELECT ?, address_id, '${kind}', id, NULL FROM ${table} WHERE id > ?`)
      .run(this.#id, before);
  }

  /**
   * Records the choices about opens and clicks that the import made, which are the entries of the consent log after `lastLogId`,
   * with the earlier choices.
   */
  recordChoices(lastLogId: number, people: readonly { address: number; before: number }[]): void {
    this.#client
      .prepare(
        `${INSERT} SELECT ?, l.address_id, 'tracking', l.id, p.value ->> 'before'
        FROM json_each(?) p CROSS JOIN consent_log l ON l.address_id = p.value ->> 'address' AND l.id > ?`,
      )
      .run(this.#id, JSON.stringify(people), lastLogId);
  }

  #record(address: number, kind: string, row: number, before: string): void {
    this.#row.run({ import: this.#id, address, kind, row, before });
  }
}

/** Returns SQL for JSON of the values that an update replaces in these columns and `updated_at`. */
function beforeImage(columns: readonly string[]): string {
  const parts = columns.map(
    (column) => `iif(new.${column} IS old.${column}, '', ',"${column}":' || json_quote(old.${column}))`,
  );
  return [`'{"updated_at":' || json_quote(old.updated_at)`, ...parts, "'}'"].join(' || ');
}

/**
 * Moves the records of a contact to its corrected address. `from` and `to` are address ids. Call inside the transaction
 * of the correction.
 */
export function moveRecordsToAddress(
  client: Database,
  correction: { account: number; contact: number; from: number; to: number },
): void {
  client
    .prepare(`UPDATE OR REPLACE import_changes SET address_id = @to
     WHERE import_id IN (SELECT id FROM contact_imports WHERE user_id = @account AND undo_until IS NOT NULL) AND address_id = @from
       AND ((kind = 'contact' AND row_id = @contact) OR (kind = 'member' AND before ->> 'contact_id' = @contact))`)
    .run(correction);
}
