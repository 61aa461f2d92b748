/** Stores how long each test file took the last time it ran on this machine. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { estimatedMs } from './choose.ts';

const STORE = 'node_modules/.cache/test-times.json';

/** The times of the last runs. */
export class FileTimes {
  readonly #known = read();

  /** Returns the milliseconds that a file took the last time, or an estimate if it has never run here. */
  of(file: string): number {
    const ms = this.#known.get(file) ?? estimatedMs(file);
    this.#known.set(file, ms);
    return ms;
  }

  /** Stores how long these files took. */
  write(results: readonly { file: string; wallMs: number }[]): void {
    const stored = read();
    for (const { file, wallMs } of results) stored.set(file, Math.round(wallMs));
    mkdirSync(dirname(STORE), { recursive: true });
    writeFileSync(STORE, JSON.stringify(Object.fromEntries(stored)));
  }
}

function read(): Map<string, number> {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(STORE, 'utf8'))));
  } catch {
    return new Map();
  }
}
