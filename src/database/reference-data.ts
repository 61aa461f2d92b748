/** Fills the tables of reference data from data/ at every start: places, dynamic content and built-in templates. */
import { readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { seedTemplates } from './built-in-templates.ts';
import { DATA } from './data-folder.ts';
import { seedPlaces } from './place-data.ts';

const DYNAMIC_CONTENT = new URL('dynamic-content.json', DATA);

/** Adds this release's rows to the reference tables. Ids never change, because clients store them. */
export function seed(client: Database): void {
  seedDynamicContent(client);
  seedTemplates(client);
  seedPlaces(client);
}

function seedDynamicContent(client: Database): void {
  const names: string[] = JSON.parse(readFileSync(DYNAMIC_CONTENT, 'utf8'));
  const insert = client.prepare('INSERT INTO dynamic_contents (id, name) VALUES (?, ?) ON CONFLICT DO NOTHING');
  client.transaction(() => {
    names.forEach((name, at) => {
      insert.run(at + 1, name);
    });
  })();
}
