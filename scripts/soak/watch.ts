/** Memory and write-ahead log of the service over time, and whether either grew without bound. */
import { statSync } from 'node:fs';
import type { Served } from '../bench/measure.ts';

interface Sample {
  minute: number;
  rssMb: number;
  walMb: number;
  /** The longest stretch on the HTTP thread since the sample before. */
  stretchMs: number;
}

const EVERY_MS = 2000;
/** In a shorter run, growth cannot be distinguished from warming up. */
const LEAST_MINUTES = 4;
/** Of the middle of the run, which the last quarter may reach: the rest is noise of garbage collection and checkpoints. */
const TOLERATED = 1.25;
const TOLERATED_MB = 40;

export class Watch {
  readonly #samples: Sample[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(service: Served, walPath: string) {
    const started = performance.now();
    this.#timer = setInterval(async () => {
      const walMb = (statSync(walPath, { throwIfNoEntry: false })?.size ?? 0) / 1e6;
      const minute = (performance.now() - started) / 60_000;
      const stretchMs = await service.longestStretch().catch(() => 0);
      this.#samples.push({ minute, rssMb: service.used().rssKb / 1024, walMb, stretchMs });
    }, EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** A line for each minute: the most of it. */
  minutes(): Record<string, number>[] {
    const minutes = new Map<number, Sample[]>();
    for (const sample of this.#samples) {
      const minute = Math.floor(sample.minute) + 1;
      minutes.set(minute, [...(minutes.get(minute) ?? []), sample]);
    }
    return [...minutes].map(([minute, samples]) => ({
      minute,
      'RSS MB': Math.round(most(samples, 'rssMb')),
      'WAL MB': Math.round(most(samples, 'walMb') * 10) / 10,
      'longest stretch on the HTTP thread, ms': Math.round(most(samples, 'stretchMs')),
    }));
  }

  /** What grew, in words; empty when nothing did. */
  growth(): string[] {
    const whole = this.#samples.at(-1)?.minute ?? 0;
    if (whole < LEAST_MINUTES) return [];
    const between = (from: number, to: number) =>
      this.#samples.filter(({ minute }) => minute >= whole * from && minute < whole * to);
    return (['rssMb', 'walMb'] as const).flatMap((what) => {
      const before = most(between(0.25, 0.5), what);
      const after = most(between(0.75, 1), what);
      if (after < before * TOLERATED || after < before + TOLERATED_MB) return [];
      return [`${what} grew from ${Math.round(before)} in the second quarter to ${Math.round(after)} in the last`];
    });
  }

  /** Whether the run was long enough for `growth` to mean something. */
  isTelling(): boolean {
    return (this.#samples.at(-1)?.minute ?? 0) >= LEAST_MINUTES;
  }
}

function most(samples: readonly Sample[], what: keyof Sample): number {
  return Math.max(0, ...samples.map((sample) => sample[what]));
}
