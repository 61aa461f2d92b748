/** Columns that many tables have. */
import { customType, integer, text } from 'drizzle-orm/sqlite-core';
import type { Said } from '../../errors/sentences.ts';
import { readStored, stored } from '../../errors/stored.ts';

/** The id of a row, which is never reused. */
export const id = () => integer().primaryKey({ autoIncrement: true });
/** When the row was added and last changed. */
export const stamps = () => ({ created_at: text().notNull(), updated_at: text().notNull() });
/** 0 or 1, with the default 0. */
export const flag = () => integer().$type<0 | 1>().notNull().default(0);

/** Rows with `deleted_at` are no longer visible anywhere. `sendlark purge` removes them from the file. */
export const softStamps = () => ({ deleted_at: text(), ...stamps() });
/** A text that is empty by default. */
export const line = () => text().notNull().default('');
/** A sentence of the service, or a text of another program such as a server's reply, in its stored form (src/errors/stored.ts). */
export const said = customType<{ data: Said; driverData: string }>({
  dataType: () => 'text',
  toDriver: stored,
  fromDriver: readStored,
});
/** An integer that is 0 by default. */
export const integerOrZero = () => integer().notNull().default(0);

/** 0: opens and clicks of this mail are not counted. 1: they are counted as the account's setting says. */
export const tracking = () => integer().notNull().default(1);

/** The id of the user who last changed the content; null for a program, the service or a design link. */
export const changedBy = () => integer();
