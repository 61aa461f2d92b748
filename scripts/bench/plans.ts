/**
 * What a statement costs that SQLite prepares again in each run, because the values of its parameters might influence its plan, and the same
 * statement with a plus before each parameter, as every connection of the service has it. The tables are almost empty, so that little of the
 * time is that of reading rows.
 *
 *   npm run bench:plans -- [runs]
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { addFunctions } from '../../src/database/open.ts';
import { inFolder, madeDatabase, taken } from './measure.ts';
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
  const kept = madeDatabase(path, 20).$client;
  const bare = new Database(path);
  addFunctions(bare);
  const table: Table = {};
  for (const [name, text] of Object.entries(STATEMENTS)) {
    const [again, once] = [bare.prepare<[number, number]>(text), kept.prepare<[number, number]>(text)];
    const each = async (statement: typeof once) => {
      const { cpuSeconds } = await taken(RUNS, () => {
        for (let run = 0; run < RUNS; run++) statement.all(1, 1);
      });
      return Math.round((cpuSeconds / RUNS) * 1e7) / 10;
    };
    await each(once);
    table[name] = { 'CPU µs, prepared again': await each(again), 'CPU µs, kept': await each(once) };
  }
  report(table, [`${RUNS} runs of each`]);
  bare.close();
  kept.close();
});
