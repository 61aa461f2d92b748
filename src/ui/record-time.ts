/** Parses the times in records of the API. */

/** The text of the contract that stands for no time. */
const NONE = '0000-00-00 00:00:00';

/**
 * Parses a time of a record: ISO 8601, or the date and the time in UTC with a space between them (`sent_at`). Returns null if the text
 * stands for no time.
 */
export function recordTime(text: string | null): Date | null {
  if (text === null || text === '' || text === NONE) return null;
  return new Date(text.includes('T') ? text : `${text.replace(' ', 'T')}Z`);
}
