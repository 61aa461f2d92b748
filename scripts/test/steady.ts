/**
 * Finds tests that fail now and then: runs all tests, or those of one kind, again and again while busy loops load two processors, and prints
 * a row for each run. The output of a failed run is stored in a file below `node_modules/.cache`. The runs follow each other, because
 * tests of one checkout share the folder of their fixtures.
 *
 *     npm run test:steady -- [RUNS] [unit] [system]
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

const LOOPS = 2;
const KINDS = ['unit', 'system'];
const words = process.argv.slice(2);
const unknown = words.filter((word) => !KINDS.includes(word) && !/^[1-9]\d*$/.test(word));
if (unknown.length > 0) throw new Error(`neither a number of runs nor unit or system: ${unknown.join(' ')}`);
const runs = Number(words.find((word) => !KINDS.includes(word)) ?? 20);
const wanted = words.filter((word) => KINDS.includes(word));
const kinds = wanted.length > 0 ? wanted : KINDS;

const loops = Array.from({ length: LOOPS }, () => spawn(process.execPath, ['-e', 'for (;;);']));
process.on('exit', () => {
  for (const loop of loops) loop.kill('SIGKILL');
});
for (let run = 1; run <= runs; run++) for (const kind of kinds) await runTests(run, kind);
process.exit();

async function runTests(run: number, kind: string): Promise<void> {
  const started = performance.now();
  const child = spawn(process.execPath, ['scripts/test/run.ts', kind], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const output = await text(child.stdout);
  const status = await ended;
  const seconds = Math.round((performance.now() - started) / 1000);
  const failed = output.split('\n').filter((line) => line.startsWith('✗'));
  const counts = output.trimEnd().split('\n').at(-1) ?? '';
  console.log([`run ${run}`, kind, `${seconds} s`, counts, ...failed].join('  '));
  if (status === 0) return;
  process.exitCode = 1;
  writeFileSync(`node_modules/.cache/steady-${run}-${kind}.txt`, output);
}
