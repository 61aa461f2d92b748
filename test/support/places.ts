/** Tables of places in memory, and the answer that the service gives of them, made by SQL. */
import Database from 'better-sqlite3';

/** The three tables of places, empty. */
export function emptyTables(): Database.Database {
  const client = new Database(':memory:');
  client.exec(`
    CREATE TABLE countries (id INTEGER PRIMARY KEY, name TEXT NOT NULL, iso2 TEXT NOT NULL);
    CREATE TABLE states (id INTEGER PRIMARY KEY, country_id INTEGER NOT NULL, name TEXT NOT NULL, code TEXT NOT NULL);
    CREATE TABLE cities (id INTEGER PRIMARY KEY, country_id INTEGER NOT NULL, state_id INTEGER, name TEXT NOT NULL);`);
  return client;
}

/** What the service answers for these tables, as text. */
export function placesAnswer(from: Database.Database): string {
  const one = (query: string): unknown => from.prepare(query).pluck().get();
  return `${String(
    one(
      `SELECT json_object('status', 'success', 'message', json_object(
        'countries', json((SELECT json_group_array(json_object('id', id, 'name', name, 'iso2', iso2) ORDER BY id) FROM countries)),
        'states', json((SELECT json_group_array(json_object('id', id, 'country_id', country_id, 'name', name, 'code', code) ORDER BY id)
          FROM states)),
        'cities', json((SELECT json_group_array(json_object('id', id, 'country_id', country_id, 'state_id', state_id, 'name', name) ORDER BY id)
          FROM cities))))`,
    ),
  )}\n`;
}
