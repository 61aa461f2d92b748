/** Runs the built command line as a process of its own. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

/** Runs `sendlark` with these words and settings. */
export async function sendlark(settings: Record<string, string>, ...words: string[]): Promise<Ran> {
  const child = spawn(process.execPath, ['dist/cli.js', ...words], {
    env: { PATH: process.env.PATH, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, out, err };
}
