/** Watches the memory and the write-ahead log of the service, and finds out whether one of them grows without bound. */
import { statSync } from 'node:fs';
import type { RunningService } from '../bench/measure.ts';

interface Sample {
  /** Minutes since the start of the watch, with fractions. */
  minute: number;
  rssMb: number;
  walMb: number;
  /** The longest time in which the HTTP thread answered nobody since the sample before. */
  stretchMs: number;
}

const SAMPLE_MS = 2000;
/** In a shorter run, growth cannot be told from warming up. */
const MIN_MINUTES = 4;
/**
 * A value has grown if its maximum in the last quarter of the run exceeds that of the second quarter by both this factor and this many
 * megabytes. Smaller differences come from garbage collection and checkpoints.
 */
const TOLERATED_FACTOR = 1.25;
const TOLERATED_MB = 40;

/** Takes samples of the service from its construction until `stop`. */
export class Watch {
  readonly #samples: Sample[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(service: RunningService, walPath: string) {
    const started = performance.now();
    this.#timer = setInterval(async () => {
      const walMb = (statSync(walPath, { throwIfNoEntry: false })?.size ?? 0) / 1e6;
      const minute = (performance.now() - started) / 60_000;
      const stretchMs = await service.longestStretch().catch(() => 0);
      this.#samples.push({ minute, rssMb: service.usage().rssKb / 1024, walMb, stretchMs });
    }, SAMPLE_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** A row for each minute, with the largest values in it. */
  minutes(): Record<string, number>[] {
    const minutes = new Map<number, Sample[]>();
    for (const sample of this.#samples) {
      const minute = Math.floor(sample.minute) + 1;
      minutes.set(minute, [...(minutes.get(minute) ?? []), sample]);
    }
    return [...minutes].map(([minute, samples]) => ({
      minute,
      'RSS MB': Math.round(largest(samples, 'rssMb')),
      'WAL MB': Math.round(largest(samples, 'walMb') * 10) / 10,
      'longest stretch on the HTTP thread, ms': Math.round(largest(samples, 'stretchMs')),
    }));
  }

  /** Returns a sentence for each value that grew; an empty list if none grew or the run was too short. */
  growth(): string[] {
    if (!this.isLongEnough()) return [];
    const duration = this.#duration();
    const between = (from: number, to: number) =>
      this.#samples.filter(({ minute }) => minute >= duration * from && minute < duration * to);
    return (['rssMb', 'walMb'] as const).flatMap((field) => {
      const before = largest(between(0.25, 0.5), field);
      const after = largest(between(0.75, 1), field);
      if (after < before * TOLERATED_FACTOR || after < before + TOLERATED_MB) return [];
      return [`${field} grew from ${Math.round(before)} in the second quarter to ${Math.round(after)} in the last`];
    });
  }

  /** True if the run was long enough to find growth. */
  isLongEnough(): boolean {
    return this.#duration() >= MIN_MINUTES;
  }

  /** The minutes from the start to the last sample. */
  #duration(): number {
    return this.#samples.at(-1)?.minute ?? 0;
  }
}

function largest(samples: readonly Sample[], field: keyof Sample): number {
  return Math.max(0, ...samples.map((sample) => sample[field]));
}
