/** How long each test file took the last time it ran here; before that, an estimate. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { estimatedMs } from './choose.ts';

const KEPT = 'node_modules/.cache/test-times.json';

/** The times that are kept from run to run. */
export class FileTimes {
  readonly #known = read();

  /** The milliseconds that a file takes. */
  of(file: string): number {
    const ms = this.#known.get(file) ?? estimatedMs(file);
    this.#known.set(file, ms);
    return ms;
  }

  /** Keeps how long these files took. */
  write(results: readonly { file: string; wallMs: number }[]): void {
    const kept = read();
    for (const { file, wallMs } of results) kept.set(file, Math.round(wallMs));
    mkdirSync(dirname(KEPT), { recursive: true });
    writeFileSync(KEPT, JSON.stringify(Object.fromEntries(kept)));
  }
}

function read(): Map<string, number> {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(KEPT, 'utf8'))));
  } catch {
    return new Map();
  }
}
