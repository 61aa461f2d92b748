/** Opens the database for commands, with or without a running server. It never creates a file, since the path may be wrong. */
import { existsSync } from 'node:fs';
import { type Config, readConfig, readEnvironment } from '../config.ts';
import { connect, type Db, lockForServer, migrateAndSeed, schemaState } from '../database/open.ts';
import { misspelt } from '../misspelt-settings.ts';

/** The settings as the server reads them. Names that look like misspelt settings are reported on standard error. */
export function settings(): Config {
  const environment = readEnvironment();
  for (const hint of misspelt(environment)) console.error(hint);
  return readConfig(environment);
}

/**
 * Runs `work` on the database of the settings and closes it. A file of an older release is brought up to date first, which
 * needs the server to be stopped. Throws an Error of one line when there is no file, or it is of a newer release.
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
