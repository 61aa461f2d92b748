/**
 * Another wall clock for the built program, which loads this before everything else. WALL_CLOCK holds when it was set
 * (epoch milliseconds), what it showed then, and how many times as fast it goes, so it goes on after a kill. Timers and
 * waits of the program keep their pace.
 */
const now = Date.now;

/** The settings with which the program shows the moment `shown` (epoch milliseconds) now, and is so many times as fast from then on. */
export function wallClock(shown: number, times: number): Record<string, string> {
  return { NODE_OPTIONS: `--import=${import.meta.url}`, WALL_CLOCK: `${now()} ${shown} ${times}` };
}

const [setAt = 0, shown = 0, times = 1] = (process.env.WALL_CLOCK ?? '').split(' ').map(Number);

class OtherDate extends Date {
  constructor(...given: [] | [value: number | string | Date]) {
    super(given.length === 0 ? OtherDate.now() : given[0]);
  }

  static override now(): number {
    return Math.floor(shown + (now() - setAt) * times);
  }
}

if (setAt > 0) globalThis.Date = OtherDate as DateConstructor;
