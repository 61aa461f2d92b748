/** Columns that many tables have. */
import { integer, text } from 'drizzle-orm/sqlite-core';

export const id = () => integer().primaryKey({ autoIncrement: true });
export const stamps = () => ({ created_at: text().notNull(), updated_at: text().notNull() });
/** 0 or 1; 0 at first. */
export const flag = () => integer().$type<0 | 1>().notNull().default(0);

/** Rows with `deleted_at` are deleted for everybody; `sendlark purge` removes them from the file. */
export const softStamps = () => ({ deleted_at: text(), ...stamps() });
export const line = () => text().notNull().default('');
export const count = () => integer().notNull().default(0);
