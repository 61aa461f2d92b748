/** Makes text from other servers safe before it is stored. */

const MAX_CHARACTERS = 500;

/**
 * One line of at most 500 characters. Control, formatting and unassigned characters become spaces, and angle brackets become
 * similar typographic characters, so that the text holds no markup and no terminal sequence wherever it is shown.
 */
export function sanitizeText(text: string): string {
  return text
    .slice(0, MAX_CHARACTERS)
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
}
