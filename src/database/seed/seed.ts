/** Loads data/ into the reference tables: dynamic-content names, templates, places. Runs at every start, so that a release can add some. */
import { readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { DATA } from '../data-folder.ts';
import { seedPlaces } from './places.ts';
import { seedTemplates } from './templates.ts';

const DYNAMIC_CONTENT = new URL('dynamic-content.json', DATA);

/** Adds to the reference tables what this release brings. Ids never change, because clients store them. */
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
