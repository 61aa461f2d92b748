/**
 * Runs the benches one after the other and writes their results into docs/contributing/benchmarks.md, so that the tables there cannot drift
 * from what the benches print. The result of a bench is between `<!-- bench:NAME -->` and `<!-- end -->`, with its command, date and machine.
 *
 *   npm run bench:all -- [NAME ...]
 *
 * Without names all benches run, which takes about half an hour. Run nothing else meanwhile.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rateChart } from './chart.ts';
import type { Report, Table } from './report.ts';

/** The arguments of each bench. */
const BENCHES: Readonly<Record<string, readonly string[]>> = {
  delivery: ['50000'],
  sizes: ['10000', '50000', '250000', '1000000'],
  import: ['200000'],
  lists: ['200000'],
  api: ['100000'],
  pages: ['1000000', '12'],
  interactions: ['20000'],
  growth: ['1000000'],
  events: ['100000', '100000'],
  upsert: ['50000'],
  nodes: ['20000'],
  jetstream: ['500000'],
  engagement: ['50000'],
  check: ['100000'],
  webhooks: ['4'],
  idle: [],
  start: [],
  plans: ['20000'],
};

const DOCUMENT = fileURLToPath(new URL('../../docs/contributing/benchmarks.md', import.meta.url));
const CHART = fileURLToPath(new URL('../../docs/contributing/delivery-rate.svg', import.meta.url));

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0)
  throw new Error(`no bench is named ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`);
for (const name of names.length > 0 ? names : Object.keys(BENCHES)) {
  const result = await run(name, BENCHES[name] ?? []);
  write(name, section(name, BENCHES[name] ?? [], result));
  if (name === 'sizes') writeFileSync(CHART, rateChart(result.table));
}

/** Runs a bench in a process of its own. Returns its result. */
async function run(name: string, args: readonly string[]): Promise<Report> {
  console.log(`\nbench:${name} ${args.join(' ')}`);
  const path = fileURLToPath(new URL(`${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  let result: Report | undefined;
  child.on('message', (message) => {
    // A bench sends no other message.
    result = message as Report;
  });
  const [code] = await once(child, 'exit');
  if (code !== 0 || result === undefined) throw new Error(`bench:${name} ended with ${code} and sent no result`);
  return result;
}

/** Returns the text of a bench's section. */
function section(name: string, args: readonly string[], { table, notes, machine }: Report): string {
  const command = ['npm run', `bench:${name}`, ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
  const today = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long' }).format(new Date());
  const sentences = notes.map((note) => `${note.charAt(0).toUpperCase()}${note.slice(1)}.`.replace(/\.\.$/, '.'));
  return [`\`${command}\`, ${today}, ${machine}.`, markdown(table), ...sentences].join('\n\n');
}

function markdown(table: Table): string {
  const rows = Object.entries(table);
  const columns = [...new Set(rows.flatMap(([, row]) => Object.keys(row)))];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const cell = (value: string | number | undefined) =>
    typeof value === 'number' ? value.toLocaleString('en-US').replaceAll(',', ' ') : (value ?? '');
  return [
    line(['', ...columns]),
    line(['', ...columns].map(() => '---')),
    ...rows.map(([name, row]) => line([name, ...columns.map((column) => cell(row[column]))])),
  ].join('\n');
}

/** Replaces the section of a bench in the document. */
function write(name: string, text: string): void {
  const document = readFileSync(DOCUMENT, 'utf8');
  const [begin, end] = [`<!-- bench:${name} -->\n`, '<!-- end -->'];
  const from = document.indexOf(begin);
  const to = document.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`docs/contributing/benchmarks.md has no place for bench:${name}`);
  writeFileSync(DOCUMENT, `${document.slice(0, from + begin.length)}${text}\n${document.slice(to)}`);
}
