/** Compares two names for spelling mistakes. */

/**
 * Returns true if at most `most` letters must be inserted, removed, replaced or swapped with their neighbour to turn `a` into `b` (the
 * optimal string alignment distance). Most pairs of names differ in their length or first letters, and are told apart at once.
 */
export function isNear(a: string, b: string, most: number): boolean {
  if (Math.abs(a.length - b.length) > most) return false;
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
    // Every later row follows from two successive rows and has no smaller number than they have.
    if (Math.min(...last) > most && Math.min(...row) > most) return false;
    beforeLast = last;
    last = row;
  }
  return (last[b.length] ?? 0) <= most;
}
