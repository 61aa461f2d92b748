/** What a foreign server wrote, made harmless before anything stores it. */

const MOST = 500;

/**
 * One line of at most 500 characters. Control, formatting and unassigned characters become spaces, angle brackets their
 * typographic likeness: no markup and no terminal sequence survives, whatever shows the text later (trust 18).
 */
export function sanitizeText(text: string): string {
  return text
    .slice(0, MOST)
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
}
