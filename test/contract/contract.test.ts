/** Holds the application against the contract table: every endpoint, every check, and the table printed at the end. */
import t, { type Test } from 'tap';
import { buildWorld } from '../support/account-records.ts';
import { startApp } from '../support/app.ts';
import { Tables } from '../support/tables.ts';
import { accounts } from './checks/accounts.ts';
import { conflicts } from './checks/conflicts.ts';
import { encodings } from './checks/encodings.ts';
import { faults } from './checks/faults.ts';
import { keys } from './checks/keys.ts';
import { methods } from './checks/methods.ts';
import { missing } from './checks/missing.ts';
import { records } from './checks/records.ts';
import { statuses } from './checks/statuses.ts';
import { success } from './checks/success.ts';
import { endpoints } from './index.ts';
import { type Place, Probe } from './probe.ts';
import type { Endpoint } from './types.ts';

interface Check {
  column: string;
  rule: string;
  run: (probe: Probe) => Promise<void>;
}

const CHECKS: Check[] = [
  { column: 'keys', rule: 'missing and wrong keys are refused before anything else', run: keys },
  { column: 'success', rule: 'a success has exactly the keys, types and texts of the contract', run: success },
  { column: 'encodings', rule: 'every encoding and spelling gives the same result', run: encodings },
  { column: 'missing', rule: 'each missing required field is named, all at once', run: missing },
  { column: 'faults', rule: 'each faulty field is named, all at once, and nothing is saved', run: faults },
  { column: 'records', rule: 'a record that cannot be found has its text', run: records },
  { column: 'accounts', rule: "another account's record is like none, byte for byte", run: accounts },
  { column: 'methods', rule: 'HEAD and unknown methods act on nothing', run: methods },
];
const CONFLICTS: Check = { column: 'conflicts', rule: 'a business rule refuses with 409', run: conflicts };

const lines = [['endpoint', ...CHECKS.map(({ column }) => column), CONFLICTS.column]];
let held = 0;

/** Two filled accounts; a single one, taken for both, where no check looks across. */
async function openPlace(t: Test, accounts: 1 | 2): Promise<Place> {
  const app = await startApp(t);
  const own = await buildWorld(app.one);
  const other = accounts === 1 ? own : await buildWorld(app.two);
  // The verification mails of the senders left a while ago, so that another may be asked for.
  app.db.exec(
    `UPDATE deliveries SET state = 2 WHERE mailing_id IN (SELECT id FROM mailings WHERE owner_kind = 'system')`,
  );
  app.clock.advance(5 * 60_000);
  return { app, own, other, tables: new Tables(app.db) };
}

const titleOf = ({ methods, path }: Endpoint) => `${methods.join('|')} ${path}`;

/** Runs a check with every method of the endpoint; gives its cell of the table: the number of cases, or a cross. */
async function cellOf(t: Test, { column, rule, run }: Check, endpoint: Endpoint, place: Place): Promise<string> {
  let cases = 0;
  const result = await t.test(rule, async (t) => {
    for (const method of endpoint.methods) {
      const probe = new Probe(endpoint, method, place);
      await run(probe).finally(() => place.tables.rewind());
      cases += probe.cases;
      t.same(probe.problems, [], `${method} ${endpoint.path}: ${column}, ${probe.cases} cases`);
    }
  });
  if (!result?.ok) return '✗';
  return cases > 0 ? `✓ ${cases}` : '–';
}

t.test('the table lists the 61 endpoints of the interface, each once', async (t) => {
  t.equal(endpoints.length, 61);
  t.equal(new Set(endpoints.map(({ path }) => path)).size, 61);
});

t.test('contract', async (t) => {
  const [place, shaken] = [await openPlace(t, 2), await openPlace(t, 1)];
  for (const endpoint of endpoints) {
    await t.test(titleOf(endpoint), async (t) => {
      const cells: string[] = [];
      for (const check of CHECKS) cells.push(await cellOf(t, check, endpoint, place));
      cells.push(endpoint.conflicts ? await cellOf(t, CONFLICTS, endpoint, shaken) : '–');
      lines.push([titleOf(endpoint), ...cells]);
      if (!cells.includes('✗')) held++;
    });
  }

  await t.test('with STATUS_CODES=always-200 every failure keeps its body', async (t) => {
    const lenient = await startApp(t, { STATUS_CODES: 'always-200' });
    for (const endpoint of endpoints) {
      for (const method of endpoint.methods) {
        const probe = new Probe(endpoint, method, place);
        await statuses(probe, lenient);
        t.same(probe.problems, [], `${method} ${endpoint.path}`);
      }
    }
  });
});

t.test('an empty collection is a success with []', async (t) => {
  const { one } = await startApp(t);
  const sharedByAll = ['/reserve-fields', '/get-dynamic/content', '/get-design/template', '/get/country-state-city'];
  const lists = endpoints.filter(
    ({ methods, query, success }) => methods[0] === 'GET' && !query && 'message' in success,
  );
  for (const { path } of lists.filter(({ path }) => !sharedByAll.includes(path))) {
    const { text } = await one.call('GET', path);
    t.match(text, /^\{"status":"success","message":\{"\w+":\[\]\}\}\n$/, path);
  }
});

t.test('the table of what was checked', async (t) => {
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  for (const line of lines) t.comment(line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  t.comment(`${held} of ${endpoints.length} endpoints hold`);
  t.equal(lines.length - 1, endpoints.length, 'every endpoint is in the table');
});
