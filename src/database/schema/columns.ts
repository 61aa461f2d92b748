/** Columns that many tables have. */
import { customType, integer, text } from 'drizzle-orm/sqlite-core';
import type { Said } from '../../errors/sentences.ts';
import { readStored, stored } from '../../errors/stored.ts';

export const id = () => integer().primaryKey({ autoIncrement: true });
export const stamps = () => ({ created_at: text().notNull(), updated_at: text().notNull() });
/** 0 or 1; 0 at first. */
export const flag = () => integer().$type<0 | 1>().notNull().default(0);

/** Rows with `deleted_at` are deleted for everybody; `sendlark purge` removes them from the file. */
export const softStamps = () => ({ deleted_at: text(), ...stamps() });
export const line = () => text().notNull().default('');
/** What the service or somebody else said, in its stored form (src/errors/stored.ts). */
export const said = customType<{ data: Said; driverData: string }>({
  dataType: () => 'text',
  toDriver: stored,
  fromDriver: readStored,
});
export const count = () => integer().notNull().default(0);
