/** Columns that many tables have. */
import { integer, text } from 'drizzle-orm/sqlite-core';

export const id = () => integer().primaryKey({ autoIncrement: true });
export const stamps = () => ({ created_at: text().notNull(), updated_at: text().notNull() });
/** Rows with `deleted_at` are deleted for everybody; `sendlark purge` removes them from the file. */
export const softStamps = () => ({ deleted_at: text(), ...stamps() });
export const line = () => text().notNull().default('');
export const count = () => integer().notNull().default(0);
