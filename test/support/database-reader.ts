/** Reads from the database of a running service. */
import { statSync } from 'node:fs';
import Database from 'better-sqlite3';

/**
 * Returns what gives the first row of a query, an empty one if there is none. The connection is kept while the file is
 * the same one, because each new connection reads the whole schema.
 */
export function readerOf(
  t: { teardown(end: () => Promise<void>): void },
  file: string,
): (sql: string) => Record<string, unknown> {
  let client: Database.Database | null = null;
  let opened = 0;
  t.teardown(async () => {
    client?.close();
  });
  return (sql) => {
    const { ino } = statSync(file);
    if (client === null || ino !== opened) {
      client?.close();
      client = new Database(file, { readonly: true });
      opened = ino;
    }
    return client.prepare<[], Record<string, unknown>>(sql).get() ?? {};
  };
}
