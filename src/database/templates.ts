import type { Database } from 'better-sqlite3';
export function seedTemplates(client: Database): void {
  client.exec(
    "INSERT INTO design_templates VALUES (1,'Blank','blank.png','{}','',1,NULL,NULL),(2,'Letter','letter.png','{}','<html><body><p>Hello ((first_name|there)), <a href=\"https://example.com/\">news</a></p></body></html>',0,NULL,NULL) ON CONFLICT DO NOTHING",
  );
}
