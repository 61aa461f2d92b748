/** Loads what data/ brings: dynamic-content names, templates, places. Runs at every start, so a release can add to it. */
import { readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { seedPlaces } from './places.ts';
import { seedTemplates } from './templates.ts';

const DYNAMIC_CONTENT = new URL('../../data/dynamic-content.json', import.meta.url);

/** Fills the reference tables; rows already there stay as they are. */
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
