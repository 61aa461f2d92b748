/** Databases of this release, each a copy of one that is made once: migrating and seeding takes a third of a second of CPU time. */
import { copyFileSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../src/database/open.ts';
import { migrateAndSeed } from '../../src/database/upgrade.ts';

/** The countries whose cities tests name. */
const AFGHANISTAN = 1;
const GERMANY = 84;

/** Where the database to copy is kept. A test may have a temporary folder of its own, which would be without it. */
const FOLDER = tmpdir();

/**
 * A database of this release with its seed, but few of its cities, made once per run of the suite and copied from then on. Its name holds
 * the number of migrations, because a run of an earlier state of the sources may have had the same process id.
 */
export function seededCopy(path: string): void {
  const migrations = readdirSync(new URL('../../drizzle/', import.meta.url)).length;
  const template = join(FOLDER, `sendlark-test-${process.ppid}-${migrations}.db`);
  if (!existsSync(template)) {
    removeOldTemplates();
    const building = `${template}-${process.pid}`;
    const db = connect(building);
    migrateAndSeed(db);
    // Three quarters of the seed are cities, which would be copied for each test. A start takes the seed for complete if it has the last.
    db.$client.exec(
      `DELETE FROM cities WHERE country_id NOT IN (${AFGHANISTAN}, ${GERMANY}) AND id < (SELECT max(id) FROM cities); VACUUM`,
    );
    db.$client.close();
    renameSync(building, template);
  }
  copyFileSync(template, path);
}

/** Removes the databases that runs which have ended left for their tests to copy. */
function removeOldTemplates(): void {
  for (const name of readdirSync(FOLDER)) {
    const [, run] = /^sendlark-test-(\d+)-\d+\.db$/.exec(name) ?? [];
    if (run !== undefined && !isRunning(Number(run))) rmSync(join(FOLDER, name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
