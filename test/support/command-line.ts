/** Runs the built command line as a process of its own. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { BUILT, type Program } from './service.ts';

export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

/** Runs `sendlark` with these words and settings. */
export function sendlark(settings: Record<string, string>, ...words: string[]): Promise<Ran> {
  return runProgram(BUILT, settings, words);
}

/** The same with the program started in another way. */
export async function runProgram(program: Program, settings: Record<string, string>, words: string[]): Promise<Ran> {
  const [file, ...before] = program.command;
  const child = spawn(file, [...before, ...words], {
    cwd: program.cwd,
    env: { ...program.env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, out, err };
}
