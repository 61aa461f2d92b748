/** Reading an export where its files cannot be written. */
import { join } from 'node:path';
import t from 'tap';
import { readExport } from '../../../src/audience/migrate/read-export.ts';
import { startApp } from '../../support/app.ts';

t.test('an export whose files cannot be written fails with the error of the file system', async (t) => {
  const app = await startApp(t);
  const rows = Array.from({ length: 5000 }, (_, at) => `reader${at}@example.org,Ann,${'x'.repeat(100)}`);
  const folder = t.testdir({ 'contacts.csv': ['email,first_name,note', ...rows].join('\n') });
  const job = {
    databasePath: app.db.name,
    accountId: 1,
    vendor: 'sendgrid' as const,
    path: join(folder, 'contacts.csv'),
    fileName: 'contacts.csv',
    folder: join(folder, 'none'),
  };
  await t.rejects(readExport(app.drizzle, job), { code: 'ENOENT' });
});
