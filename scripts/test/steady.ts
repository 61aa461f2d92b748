/**
 * Finds tests that fail now and then: runs all tests, or those of one kind, again and again while busy loops load two processors, and prints
 * a row for each run. The output of a failed run is stored in a file below `node_modules/.cache`.
 *
 *     npm run test:steady -- [RUNS] [unit | system]
 */
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const [runs = '20', wantedKind] = process.argv.slice(2);
const LOOPS = 2;
const kinds = wantedKind === undefined ? ['unit', 'system'] : [wantedKind];

const loops = Array.from({ length: LOOPS }, () => spawn(process.execPath, ['-e', 'for (;;);']));
process.on('exit', () => {
  for (const loop of loops) loop.kill('SIGKILL');
});
for (let run = 1; run <= Number(runs); run++) {
  for (const kind of kinds) {
    const started = performance.now();
    const { stdout, status } = spawnSync(process.execPath, ['scripts/test/run.ts', kind], {
      encoding: 'utf8',
      maxBuffer: 1e9,
    });
    const seconds = Math.round((performance.now() - started) / 1000);
    const failed = stdout.split('\n').filter((line) => line.startsWith('✗'));
    const counts = stdout.trimEnd().split('\n').at(-1) ?? '';
    console.log([`run ${run}`, kind, `${seconds} s`, counts, ...failed].join('  '));
    if (status === 0) continue;
    process.exitCode = 1;
    writeFileSync(`node_modules/.cache/steady-${run}-${kind}.txt`, stdout);
  }
}
process.exit();
