/** Times in the API's records. */

/** No time yet, as the contract writes it. */
const NONE = '0000-00-00 00:00:00';

/**
 * Reads a time of a record: ISO 8601, or day and time in UTC with a space between (`sent_at`). Gives null where a record has none.
 */
export function recordTime(text: string | null): Date | null {
  if (text === null || text === '' || text === NONE) return null;
  return new Date(text.includes('T') ? text : `${text.replace(' ', 'T')}Z`);
}
