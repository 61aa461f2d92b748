/** Times in the API's records. */

/** The contract's text for no time. */
const NONE = '0000-00-00 00:00:00';

/** Parses a time of a record: ISO 8601, or date and time in UTC separated by a space (`sent_at`). Returns null if the record has no time. */
export function recordTime(text: string | null): Date | null {
  if (text === null || text === '' || text === NONE) return null;
  return new Date(text.includes('T') ? text : `${text.replace(' ', 'T')}Z`);
}
