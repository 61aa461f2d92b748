/** Finds hits of one mail that come too fast for a person: scanners load the pixel and follow the links within a moment. */

/** An open (`link` null) or a click. */
export interface TimedHit {
  link: number | null;
  /** Epoch milliseconds. */
  at: number;
}

/** Hits within this time may be a burst. */
export const BURST_MS = 2000;
/** With the pixel, so many different links within that time are a burst. */
const LINKS_WITH_PIXEL = 3;
/** Every link of a mail within that time is a burst, except of mails with fewer links than this. */
const LEAST_LINKS = 2;

/** Says of each hit of a recipient's mail, in the order of their times, whether it is in a burst. `links`: how many links the mail has. */
export function findBursts(hits: readonly TimedHit[], links: number): boolean[] {
  const found = hits.map(() => false);
  const counts = new Map<number | null, number>();
  let from = 0;
  let marked = 0;
  for (const [to, { link, at }] of hits.entries()) {
    counts.set(link, (counts.get(link) ?? 0) + 1);
    for (let first = hits[from]; first !== undefined && at - first.at > BURST_MS; first = hits[++from]) {
      const left = (counts.get(first.link) ?? 0) - 1;
      if (left === 0) counts.delete(first.link);
      else counts.set(first.link, left);
    }
    const hasPixel = counts.has(null);
    const clicked = counts.size - Number(hasPixel);
    const isBurst = (hasPixel && clicked >= LINKS_WITH_PIXEL) || (links >= LEAST_LINKS && clicked >= links);
    if (!isBurst) continue;
    found.fill(true, Math.max(from, marked), to + 1);
    marked = to + 1;
  }
  return found;
}
