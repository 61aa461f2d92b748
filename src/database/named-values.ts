/** Texts that the installation stores by name in the table `installation`: secrets, the public URL, results of checks. */
import type { Database } from 'better-sqlite3';

/** Returns the text with this name; null if none is stored. */
export function findNamedValue(client: Database, name: string): string | null {
  const value = client.prepare<[string], string>('SELECT value FROM installation WHERE name = ?').pluck().get(name);
  return value ?? null;
}

/** Stores a text under this name and replaces an earlier one. */
export function writeNamedValue(client: Database, name: string, value: string): void {
  client
    .prepare(
      'INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    )
    .run(name, value);
}

/** Stores a text under this name, unless the name already has a text. */
export function addNamedValue(client: Database, name: string, value: string): void {
  client.prepare('INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING').run(name, value);
}

/** Removes the text with this name. */
export function removeNamedValue(client: Database, name: string): void {
  client.prepare('DELETE FROM installation WHERE name = ?').run(name);
}
