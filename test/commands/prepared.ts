/** A folder with a database for commands that are called directly. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { createAccount } from '../../src/database/accounts.ts';
import { connect } from '../../src/database/open.ts';
import { systemClock } from '../../src/time/clock.ts';
import { sendlark } from '../support/command-line.ts';
import { seededCopy } from '../support/seeded-copy.ts';

/** A folder that is gone after the test. */
export function folder(t: Test): string {
  const made = mkdtempSync(join(tmpdir(), 'sendlark-cli-'));
  t.teardown(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A database with account 1, and the command line on it. */
export function prepared(t: Test) {
  const path = join(folder(t), 'test.db');
  seededCopy(path);
  const db = connect(path);
  createAccount(db, systemClock, 'Main');
  t.teardown(() => db.$client.close());
  return { db: db.$client, path, run: (...words: string[]) => sendlark({ DATABASE_PATH: path }, ...words) };
}
