/** The built-in design templates: the files in data/templates and their rows in the database. */
import { readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { DATA } from '../data-folder.ts';

/** The folder of index.json and, for each template, its source (.json) and the files made from it (.html, .png). */
const TEMPLATES = new URL('templates/', DATA);

/** An entry of index.json. Its files are named like its preview image. */
export interface BuiltIn {
  /** Never reused for another template, because campaigns refer to it. 1 is the blank template. */
  id: number;
  template_name: string;
  preview_image: string;
  is_blank: number;
}

/** The built-in templates, ordered by id. */
export function listTemplates(): BuiltIn[] {
  return JSON.parse(readFileSync(new URL('index.json', TEMPLATES), 'utf8'));
}

/** The location of a built-in template's source, compiled HTML or preview. */
export function templateFile({ preview_image }: BuiltIn, kind: 'json' | 'html' | 'png'): URL {
  return new URL(preview_image.replace(/png$/, kind), TEMPLATES);
}

/** Updates design_templates to this release's templates; rows that have not changed are not written. */
export function seedTemplates(client: Database): void {
  const put = client.prepare(`
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
    for (const row of rows) put.run(row);
  })();
}
