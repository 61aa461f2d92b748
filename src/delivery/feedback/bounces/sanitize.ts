/** Makes text from other servers safe before it is stored. */

const MAX_CHARACTERS = 500;

/**
 * Returns one line of at most 500 characters. Control, formatting and unassigned characters become spaces, and angle brackets become
 * similar typographic characters, so that the text contains neither markup nor terminal sequences.
 */
export function sanitizeText(text: string): string {
  return text
    .slice(0, MAX_CHARACTERS)
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
}
