/** How many uploaded files of an account wait at once. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { ImportReport } from '../../../src/audience/import/import.ts';
import { DEFAULT_OPTIONS } from '../../../src/audience/import/import-job.ts';
import { ImportJobs } from '../../../src/audience/import/uploads.ts';

t.test('an account has five imports under way; one more begins when one has ended', async (t) => {
  const ends: (() => void)[] = [];
  const jobs = new ImportJobs(
    {
      run: () => new Promise<ImportReport>((_resolve, reject) => ends.push(() => reject(new Error('ended')))),
      preview: () => Promise.reject(new Error('not asked for')),
    },
    () => undefined,
  );
  const looked = async (accountId: number) => {
    const folder = await mkdtemp(join(tmpdir(), 'sendlark-test-'));
    const file = {
      accountId,
      folder,
      path: join(folder, 'a.csv'),
      fileName: 'a.csv',
      exported: null,
      columns: [],
      notes: [],
    };
    return jobs.add(file, 0);
  };
  const start = async (accountId: number) =>
    jobs.start(await looked(accountId), '', {
      newTypeName: null,
      typeId: 1,
      mapping: ['email'],
      options: DEFAULT_OPTIONS,
    });
  for (let at = 0; at < 5; at++) await start(1);
  await t.rejects(start(1), /Too many imports/);
  await start(2);
  ends[0]?.();
  await new Promise(setImmediate);
  await start(1);
  for (const end of ends) end();
});
