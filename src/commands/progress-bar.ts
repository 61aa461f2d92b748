/** Shows the progress of long work: on a terminal a bar with the rate and the remaining time, elsewhere a line for every ten per cent. */
import type { Call } from './command.ts';

const WIDTH = 24;
const REDRAW_MS = 100;
/** The rate is shown after this time, because before it would mean little. */
const MIN_SECONDS = 0.5;

export interface Progress {
  /** Updates the display. */
  update(done: number, whole: number): void;
  /** Ends the bar's line. */
  end(): void;
}

/** Starts a progress display on standard output; with --json nothing is shown. `unit` names the counted things. */
export function startProgress({ json }: Call, label: string, unit: string): Progress {
  if (json) return { update: () => undefined, end: () => undefined };
  return process.stdout.isTTY ? bar(label, unit) : plainLines(label, unit);
}

function bar(label: string, unit: string): Progress {
  const started = performance.now();
  let drawn = Number.NEGATIVE_INFINITY;
  return {
    update(done, whole) {
      const now = performance.now();
      if (now - drawn < REDRAW_MS && done < whole) return;
      drawn = now;
      process.stdout.write(`\r\x1b[K${label} ${progressBar(done, whole, (now - started) / 1000, unit)}`);
    },
    end: () => process.stdout.write('\n'),
  };
}

/** Returns the bar for `done` of `whole` after this number of seconds: share, rate, remaining time. */
export function progressBar(done: number, whole: number, seconds: number, unit: string): string {
  const share = whole === 0 ? 1 : Math.min(1, done / whole);
  const filled = Math.round(share * WIDTH);
  // After a shorter time, the rate would mean little.
  const rate = seconds >= MIN_SECONDS ? done / seconds : 0;
  const left = rate > 0 ? `${Math.ceil((whole - done) / rate)} s left` : '';
  const pace = rate > 0 ? `${Math.round(rate)} ${unit}/s  ${left}` : '';
  const percent = `${Math.floor(share * 100)} %`.padStart(5);
  return `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${percent}  ${pace}`.trimEnd();
}

function plainLines(label: string, unit: string): Progress {
  let told = 0;
  return {
    update(done, whole) {
      const tenth = whole === 0 ? 10 : Math.floor((done / whole) * 10);
      if (tenth === told) return;
      told = tenth;
      console.log(`${label}: ${done} of ${whole} ${unit}`);
    },
    end: () => undefined,
  };
}
