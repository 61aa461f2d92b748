/**
 * Checks types, style and unused code at the same time, and prints the output of each check that fails. No check stops the others, so one
 * run shows everything to mend.
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

const CHECKS = ['npm run --silent types', 'npm run --silent lint', 'npm run --silent unused'];

await Promise.all(CHECKS.map(run));

async function run(command: string): Promise<void> {
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [output, errors, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (status === 0) return;
  process.stdout.write(`✗ ${command}\n${output}${errors}`);
  process.exitCode = 1;
}
