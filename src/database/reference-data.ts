/** Fills the tables of reference data from data/ at every start: places, dynamic content and built-in templates. */
import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import type { Database } from 'better-sqlite3';
import { DATA } from './data-folder.ts';

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

/** The folder of the place data; data/places/README.md describes the format of each file. */
export const PLACES = new URL('places/', DATA);

export interface PlacesIndex {
  /** The number of cities, which is also the highest id. */
  cities: number;
  /** The length in bytes and the content hash of the response that lists all places. */
  body: { length: number; hash: string };
}

interface Country {
  id: number;
  iso2: string;
  iso3: string;
  name: string;
  /** Other names that an import accepts. */
  aliases: string[];
}

/** Reads index.json, which summarizes the large files. */
export function readPlacesIndex(): PlacesIndex {
  return JSON.parse(readFileSync(new URL('index.json', PLACES), 'utf8'));
}

/** Returns every country, ordered by id. */
export function readCountries(): Country[] {
  return JSON.parse(readFileSync(new URL('countries.json', PLACES), 'utf8'));
}

/**
 * Updates the tables to this release's data in one transaction: adds new places and renames countries and states, but never changes an id.
 * SQLite parses the JSON itself with one statement for the cities of each state, which takes a third of the time of one statement per row.
 */
export function seedPlaces(client: Database): void {
  const update = client.transaction(() => {
    client
      .prepare(
        `INSERT INTO countries (id, name, iso2) SELECT value->>'id', value->>'name', value->>'iso2' FROM json_each(?) WHERE true
         ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE countries.name <> excluded.name`,
      )
      .run(readFileSync(new URL('countries.json', PLACES), 'utf8'));
    client
      .prepare(
        `INSERT INTO states (id, country_id, name, code)
         SELECT value->>0, value->>1, value->>2, value->>3 FROM json_each(?) WHERE true
         ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE states.name <> excluded.name`,
      )
      .run(unpack('states.json.br'));
    const lastId = Number(client.prepare('SELECT coalesce(max(id), 0) FROM cities').pluck().get());
    if (lastId < readPlacesIndex().cities) seedCities(client, lastId);
  });
  update.immediate();
}

function seedCities(client: Database, lastId: number): void {
  const insert = client.prepare(
    `INSERT INTO cities (id, country_id, state_id, name)
     SELECT (@group->>0) + key, @group->>1, @group->>2, value FROM json_each(@group, '$[3]') WHERE (@group->>0) + key > @lastId`,
  );
  for (const group of unpack('cities.ndjson.br').split('\n')) if (group !== '') insert.run({ group, lastId });
}

function unpack(file: string): string {
  return brotliDecompressSync(readFileSync(new URL(file, PLACES))).toString();
}

/** The folder of index.json, and of each template's source (.json) with the files made from it (.html, .png, .webp). */
const TEMPLATES = new URL('templates/', DATA);

/** An entry of index.json. Its files differ from `preview_image` only in their endings. */
export interface BuiltIn {
  /** An id is never reused for another template, because campaigns refer to it. 1 is the blank template. */
  id: number;
  template_name: string;
  preview_image: string;
  is_blank: number;
}

/** Returns the built-in templates, ordered by id. */
export function listTemplates(): BuiltIn[] {
  return JSON.parse(readFileSync(new URL('index.json', TEMPLATES), 'utf8'));
}

/** Returns the location of a built-in template's source, compiled HTML or preview. */
export function templateFile({ preview_image }: BuiltIn, kind: 'json' | 'html' | 'png' | 'webp'): URL {
  return new URL(preview_image.replace(/png$/, kind), TEMPLATES);
}

/** Updates design_templates to this release's templates. Unchanged rows are not written. */
export function seedTemplates(client: Database): void {
  const upsert = client.prepare(`
    INSERT INTO design_templates (id, template_name, preview_image, json_code, html_code, is_blank)
    VALUES (@id, @template_name, @preview_image, @json_code, @html_code, @is_blank)
    ON CONFLICT (id) DO UPDATE SET template_name = excluded.template_name, preview_image = excluded.preview_image,
      json_code = excluded.json_code, html_code = excluded.html_code, is_blank = excluded.is_blank
    WHERE (template_name, preview_image, json_code, html_code, is_blank)
      IS NOT (excluded.template_name, excluded.preview_image, excluded.json_code, excluded.html_code, excluded.is_blank)`);
  const rows = listTemplates().map((template) => ({
    ...template,
    json_code: JSON.stringify(JSON.parse(readFileSync(templateFile(template, 'json'), 'utf8'))),
    html_code: readFileSync(templateFile(template, 'html'), 'utf8'),
  }));
  client.transaction(() => {
    for (const row of rows) upsert.run(row);
  })();
}
