/**
 * Opens the database for commands, with or without a running server, and finds the contact type of --type. Never creates a
 * database, because the path may be wrong.
 */
import { existsSync } from 'node:fs';
import { and, eq, isNull } from 'drizzle-orm';
import type { Config } from '../config.ts';
import { databaseFault } from '../database/faults.ts';
import { connect, type Db } from '../database/open.ts';
import { accounts, contactTypes } from '../database/schema/index.ts';
import { lockForServer } from '../database/server-lock.ts';
import { migrateAndSeed, schemaState } from '../database/upgrade.ts';
import { type Call, requireNumber, UsageError } from './command.ts';
import { settings } from './settings.ts';

/**
 * Opens the database that the settings name, runs `work` and closes the database. First upgrades a file of an older release, for which the
 * server must be stopped. Throws a one-line Error if the file does not exist or is from a newer release.
 */
export async function withDatabase<T>(work: (db: Db, config: Config) => Promise<T> | T): Promise<T> {
  const config = settings();
  const path = config.DATABASE_PATH;
  if (!existsSync(path)) {
    throw new Error(`No database at ${path}: start the service once to make it, or set DATABASE_PATH`);
  }
  const db = connect(path);
  try {
    if (schemaState(db.$client) !== 'current') upgrade(db, path);
    return await work(db, config);
  } catch (error) {
    throw databaseFault(error, path);
  } finally {
    db.$client.close();
  }
}

function upgrade(db: Db, path: string): void {
  const lock = lockForServer(path);
  try {
    migrateAndSeed(db);
  } finally {
    lock.release();
  }
}

/** Returns the number after --type. Throws UsageError if the option is missing or is not a number. */
export function typeOption(call: Call): number {
  const type = call.option('type');
  if (type === undefined) throw new UsageError('--type N is missing: the number of a list');
  return requireNumber(type, '--type');
}

/** Throws a one-line Error if no account has this id. */
export function requireAccount(db: Db, accountId: number): void {
  if (db.select().from(accounts).where(eq(accounts.id, accountId)).get() === undefined)
    throw new Error(`There is no account ${accountId}; see: sendlark account list`);
}

/** Returns the account that owns a contact type. Throws a one-line Error if no contact type has this id. */
export function requireContactType(db: Db, typeId: number): { accountId: number } {
  const type = db
    .select({ accountId: contactTypes.user_id })
    .from(contactTypes)
    .where(and(eq(contactTypes.id, typeId), isNull(contactTypes.deleted_at)))
    .get();
  if (type === undefined) throw new Error(`There is no list ${typeId}`);
  return type;
}
