/** Tables filled from data/ at every start: places, dynamic content and built-in templates. */
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const countries = sqliteTable('countries', {
  id: integer().primaryKey(),
  name: text().notNull(),
  iso2: text().notNull(),
});

export const states = sqliteTable('states', {
  id: integer().primaryKey(),
  country_id: integer().notNull(),
  name: text().notNull(),
  code: text().notNull(),
});

export const cities = sqliteTable(
  'cities',
  {
    id: integer().primaryKey(),
    country_id: integer().notNull(),
    state_id: integer(),
    name: text().notNull(),
  },
  (table) => [index('cities_state').on(table.country_id, table.state_id)],
);

export const dynamicContents = sqliteTable('dynamic_contents', { id: integer().primaryKey(), name: text().notNull() });

export const designTemplates = sqliteTable('design_templates', {
  id: integer().primaryKey(),
  template_name: text().notNull(),
  preview_image: text().notNull(),
  json_code: text().notNull(),
  html_code: text().notNull(),
  is_blank: integer().notNull(),
  created_at: text(),
  updated_at: text(),
});
