/**
 * Runs all tests, or those of one kind, again and again beside a busy loop for each of two processors, and prints a row for each run. A
 * test that is red now and then is red here. The output of a red run is kept in a file below `node_modules/.cache`.
 *
 *     npm run test:steady -- [RUNS] [unit | system]
 */
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const [runs = '20', kind] = process.argv.slice(2);
const LOOPS = 2;
const kinds = kind === undefined ? ['unit', 'system'] : [kind];

const loops = Array.from({ length: LOOPS }, () => spawn(process.execPath, ['-e', 'for (;;);']));
process.on('exit', () => {
  for (const loop of loops) loop.kill('SIGKILL');
});
for (let run = 1; run <= Number(runs); run++) {
  for (const one of kinds) {
    const from = performance.now();
    const { stdout, status } = spawnSync(process.execPath, ['scripts/test/run.ts', one], {
      encoding: 'utf8',
      maxBuffer: 1e9,
    });
    const seconds = Math.round((performance.now() - from) / 1000);
    const failed = stdout.split('\n').filter((line) => line.startsWith('✗'));
    const counts = stdout.trimEnd().split('\n').at(-1) ?? '';
    console.log([`run ${run}`, one, `${seconds} s`, counts, ...failed].join('  '));
    if (status === 0) continue;
    process.exitCode = 1;
    writeFileSync(`node_modules/.cache/steady-${run}-${one}.txt`, stdout);
  }
}
process.exit();
