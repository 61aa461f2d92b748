/** Exports recipients of a mailing as CSV. */
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { type CsvValue, csvStream } from '../../audience/csv-write.ts';
import { findRecipients, type RecipientFilter } from './recipients.ts';

const COLUMNS = ['email', 'state', 'why', 'attempts', 'opens', 'clicks', 'updated_at'] as const;
/** The number of recipients that are read at once. */
const PAGE_ROWS = 500;

/** Returns all matching recipients as a CSV stream, which is read a page at a time as fast as the client reads. */
export function exportRecipients(
  client: Database,
  mailing: { id: number; accountId: number },
  filter: RecipientFilter,
): Readable {
  async function* pages(): AsyncGenerator<CsvValue[][]> {
    for (let after: string | null = ''; after !== null; await setImmediate()) {
      const page: ReturnType<typeof findRecipients> = findRecipients(client, mailing, filter, after, PAGE_ROWS);
      yield page.recipients.map(({ email, state, reply, attempts, opens, clicks, updated_at }) => [
        email,
        state,
        reply && String(reply),
        attempts,
        opens,
        clicks,
        updated_at && new Date(updated_at).toISOString(),
      ]);
      after = page.next;
    }
  }
  return csvStream(COLUMNS, pages());
}
