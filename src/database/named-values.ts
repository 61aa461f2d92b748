/** Texts that the installation keeps under a name, in table `installation`: secrets, the public address, what was last seen. */
import type { Database } from 'better-sqlite3';
import { prepared } from './prepared.ts';

/** The text under this name; null where there is none. */
export function findNamedValue(client: Database, name: string): string | null {
  const value = prepared<[string], string>(client, 'SELECT value FROM installation WHERE name = ?').pluck().get(name);
  return value ?? null;
}

/** Keeps a text under this name, in place of the one that was there. */
export function writeNamedValue(client: Database, name: string, value: string): void {
  prepared(
    client,
    'INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  ).run(name, value);
}

/** Keeps a text under this name unless there is one already. */
export function addNamedValue(client: Database, name: string, value: string): void {
  prepared(client, 'INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING').run(name, value);
}

/** Removes the text under this name. */
export function removeNamedValue(client: Database, name: string): void {
  prepared(client, 'DELETE FROM installation WHERE name = ?').run(name);
}
