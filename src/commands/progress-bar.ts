/** Shows the progress of long work: a bar with the rate and the remaining time on a terminal, otherwise a line for every ten per cent. */
import type { Call } from './command.ts';

const WIDTH = 24;
const REDRAW_MS = 100;
/** The rate is shown after this time, because an earlier rate would mean little. */
const MIN_SECONDS = 0.5;

/** The display of some work's progress. */
export interface Progress {
  /** Shows that `done` of `total` things are done. */
  update(done: number, total: number): void;
  /** Ends the bar's line. */
  end(): void;
}

/** Starts a progress display on standard output. Shows nothing with --json. `unit` names the counted things. */
export function startProgress({ json }: Call, label: string, unit: string): Progress {
  if (json) return { update: () => undefined, end: () => undefined };
  return process.stdout.isTTY ? bar(label, unit) : plainLines(label, unit);
}

function bar(label: string, unit: string): Progress {
  const started = performance.now();
  let drawnAt = Number.NEGATIVE_INFINITY;
  return {
    update(done, total) {
      const now = performance.now();
      if (now - drawnAt < REDRAW_MS && done < total) return;
      drawnAt = now;
      process.stdout.write(`\r\x1b[K${label} ${progressBar(done, total, (now - started) / 1000, unit)}`);
    },
    end: () => process.stdout.write('\n'),
  };
}

/** Returns the bar for `done` of `total` after this number of seconds, with the share, the rate and the remaining time. */
export function progressBar(done: number, total: number, seconds: number, unit: string): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const filled = Math.round(share * WIDTH);
  const rate = seconds >= MIN_SECONDS ? done / seconds : 0;
  const pace = rate > 0 ? `${Math.round(rate)} ${unit}/s  ${Math.ceil((total - done) / rate)} s left` : '';
  const percent = `${Math.floor(share * 100)} %`.padStart(5);
  return `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${percent}  ${pace}`.trimEnd();
}

function plainLines(label: string, unit: string): Progress {
  let printedTenth = 0;
  return {
    update(done, total) {
      const tenth = total === 0 ? 10 : Math.floor((done / total) * 10);
      if (tenth === printedTenth) return;
      printedTenth = tenth;
      console.log(`${label}: ${done} of ${total} ${unit}`);
    },
    end: () => undefined,
  };
}
