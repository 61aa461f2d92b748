/** Finds misspelt settings in the environment. */
import { SETTINGS } from '../config.ts';

/**
 * Returns one sentence for each name in `environment` that looks like a misspelt setting, because such names would otherwise be
 * ignored silently. The sentences never contain values.
 */
export function misspelt(environment: Readonly<Record<string, string | undefined>>): string[] {
  const names = Object.keys(SETTINGS);
  return Object.keys(environment)
    .filter((given) => environment[given]?.trim() && !names.includes(given) && !SET_BY_NPM.test(given))
    .filter((given) => given.length <= MAX_NAME_LENGTH)
    .flatMap((given) => {
      const written = given.toUpperCase().replaceAll('-', '_');
      const begun = names.filter((name) => name.startsWith(`${written}_`));
      const near = names.find((name) => isNear(written, name));
      const meant = near ?? (begun.length === 1 ? begun[0] : undefined);
      return meant === undefined ? [] : [`${given} is not a setting and is ignored: did you mean ${meant}?`];
    });
}

const MAX_NAME_LENGTH = 40;
/** Names that npm sets for the scripts that it runs (npm, "scripts", Environment). */
const SET_BY_NPM = /^(NODE$|npm_)/;

/** Whether at most two letters differ, or one in a short name. */
function isNear(written: string, name: string): boolean {
  const most = name.length < 10 ? 1 : 2;
  // Most names differ by more in length alone, and comparing all of them takes 10 ms of a start.
  return Math.abs(written.length - name.length) <= most && distance(written, name) <= most;
}

/**
 * Returns how many letters must be inserted, removed, replaced or swapped with their neighbour to turn one text into the other
 * (the optimal string alignment distance).
 */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
