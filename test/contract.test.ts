/** Holds the application against the contract table: every endpoint, every check, and the table printed at the end. */
import t, { type Test } from 'tap';
import { accounts } from './contract/checks/accounts.ts';
import { conflicts } from './contract/checks/conflicts.ts';
import { encodings } from './contract/checks/encodings.ts';
import { faults } from './contract/checks/faults.ts';
import { keys } from './contract/checks/keys.ts';
import { methods } from './contract/checks/methods.ts';
import { missing } from './contract/checks/missing.ts';
import { records } from './contract/checks/records.ts';
import { success } from './contract/checks/success.ts';
import { endpoints, pending, resources } from './contract/index.ts';
import { type Place, Probe } from './contract/probe.ts';
import { Tables } from './contract/tables.ts';
import type { Endpoint } from './contract/types.ts';
import { buildWorld } from './contract/world.ts';
import { startApp } from './helper.ts';

const CHECKS = {
  keys: { rule: 'missing and wrong keys are refused before anything else', check: keys },
  success: { rule: 'a success has exactly the keys, types and texts of the contract', check: success },
  encodings: { rule: 'every encoding and spelling gives the same result', check: encodings },
  missing: { rule: 'each missing required field is named, all at once', check: missing },
  faults: { rule: 'each faulty field is named, all at once, and nothing is saved', check: faults },
  records: { rule: 'a record that cannot be found has its text (trust 29, 34)', check: records },
  accounts: { rule: "another account's record is like none, byte for byte (trust 39)", check: accounts },
  methods: { rule: 'HEAD and unknown methods act on nothing', check: methods },
  conflicts: { rule: 'a business rule refuses with 409', check: conflicts },
};
type Name = keyof typeof CHECKS;
const NAMES = Object.keys(CHECKS) as Name[];

const lines = [['endpoint', ...NAMES]];
let checked = 0;

async function openPlace(t: Test): Promise<Place> {
  const app = await startApp(t);
  const own = await buildWorld(app.one, pending);
  const other = await buildWorld(app.two, pending);
  return { app, own, other, tables: new Tables(app.db) };
}

/** Runs all checks of an endpoint and notes the line of the table: cases per check, or a cross. */
async function holdAgainst(t: Test, endpoint: Endpoint, shared: Place): Promise<void> {
  const line = [`${endpoint.methods.join('|')} ${endpoint.path}`];
  for (const name of NAMES) {
    if (name === 'conflicts' && endpoint.conflicts === undefined) {
      line.push('–');
      continue;
    }
    const { rule, check } = CHECKS[name];
    let cases = 0;
    const result = await t.test(rule, async (t) => {
      const place = name === 'conflicts' ? await openPlace(t) : shared;
      for (const method of endpoint.methods) {
        const probe = new Probe(endpoint, method, place);
        await check(probe);
        cases += probe.cases;
        t.same(probe.problems, [], `${method} ${endpoint.path}: ${name}, ${probe.cases} cases`);
      }
    });
    line.push(result?.ok ? (cases > 0 ? `✓ ${cases}` : '–') : '✗');
  }
  lines.push(line);
}

t.test('the table lists the 61 endpoints of the interface, each once', async (t) => {
  t.equal(endpoints.length, 61);
  t.equal(new Set(endpoints.map(({ path }) => path)).size, 61);
});

t.test('contract', async (t) => {
  const place = await openPlace(t);
  for (const [resource, members] of Object.entries(resources)) {
    if (pending.includes(resource)) continue;
    for (const endpoint of members) {
      await t.test(`${endpoint.methods.join('|')} ${endpoint.path}`, (t) => holdAgainst(t, endpoint, place));
      checked++;
    }
  }
});

t.test('the table of what was checked', async (t) => {
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  for (const line of lines) t.comment(line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  t.comment(`${checked} of ${endpoints.length} endpoints; pending: ${pending.join(', ') || 'none'}`);
  const waiting = pending.flatMap((resource) => resources[resource] ?? []).length;
  t.equal(checked + waiting, endpoints.length, `${checked} of ${endpoints.length}`);
});
