import type { Database } from 'better-sqlite3';
export function seedPlaces(client: Database): void {
  client.exec(
    "INSERT INTO countries VALUES (1,'Germany','DE'),(2,'India','IN') ON CONFLICT DO NOTHING; INSERT INTO states VALUES (1,1,'Berlin','BE') ON CONFLICT DO NOTHING; INSERT INTO cities VALUES (1,1,1,'Berlin') ON CONFLICT DO NOTHING",
  );
}
