/**
 * Measures the CPU time of statements that SQLite prepares again in each run, because the values of their parameters might influence the
 * plan, and of the same statements with a plus before each parameter, which SQLite prepares once. Every connection of the service adds this
 * plus. The tables are almost empty, so that hardly any of the time is for reading rows.
 *
 *   npm run bench:plans -- [runs]
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { addFunctions } from '../../src/database/open.ts';
import { inFolder, makeDatabase, measureWork } from './measure.ts';
import { report, type Table } from './report.ts';

const RUNS = Number(process.argv[2] ?? 20_000);
const STATEMENTS: Readonly<Record<string, string>> = {
  'one table, one row': 'SELECT * FROM contacts WHERE id = ? AND user_id = ?',
  'one table, a page': 'SELECT id FROM contacts WHERE user_id = ? AND deleted_at IS NULL ORDER BY id DESC LIMIT ?',
  'three tables, one row':
    'SELECT u.name FROM deliveries d CROSS JOIN addresses a ON a.id = d.address_id CROSS JOIN accounts u ON u.id = a.user_id WHERE d.id = ? AND d.mailing_id = ?',
  'three subqueries':
    'SELECT EXISTS (SELECT 1 FROM contacts WHERE user_id = ?), EXISTS (SELECT 1 FROM segments WHERE user_id = ?), (SELECT count(*) FROM senders WHERE user_id = 1)',
};

await inFolder(async (folder) => {
  const path = join(folder, 'plans.db');
  const withPlus = makeDatabase(path, 20).$client;
  const withoutPlus = new Database(path);
  addFunctions(withoutPlus);
  const table: Table = {};
  for (const [name, sql] of Object.entries(STATEMENTS)) {
    const preparedAgain = withoutPlus.prepare<[number, number]>(sql);
    const preparedOnce = withPlus.prepare<[number, number]>(sql);
    const microsecondsOf = async (statement: typeof preparedOnce) => {
      const { cpuSeconds } = await measureWork(RUNS, () => {
        for (let run = 0; run < RUNS; run++) statement.all(1, 1);
      });
      return Math.round((cpuSeconds / RUNS) * 1e7) / 10;
    };
    // The first run warms up the code.
    await microsecondsOf(preparedOnce);
    table[name] = {
      'CPU µs, prepared again': await microsecondsOf(preparedAgain),
      'CPU µs, kept': await microsecondsOf(preparedOnce),
    };
  }
  report(table, [`${RUNS} runs of each`]);
  withoutPlus.close();
  withPlus.close();
});
