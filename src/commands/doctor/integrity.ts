/** Whether the database is sound. Reads the whole file, which takes minutes where it is large. */
import { checkIntegrity } from '../../backups/make-backup.ts';
import type { Db } from '../../database/open.ts';
import type { Finding } from '../../health-checks/finding.ts';

export function databaseCheck(db: Db): Finding {
  const integrity = checkIntegrity(db);
  const version = String(db.$client.prepare('SELECT sqlite_version()').pluck().get());
  if (integrity === 'ok') {
    return { name: 'Database', state: 'ok', found: `integrity ok, schema of this release, SQLite ${version}` };
  }
  const advice = ['Stop the service and put the latest backup in place: sendlark restore FILE --force'];
  return { name: 'Database', state: 'fail', found: `damaged: ${integrity}`, advice };
}
