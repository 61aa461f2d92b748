/** The built-in templates of data/templates/, and the table that is filled from them. */
import { readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { DATA } from './data-folder.ts';

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
