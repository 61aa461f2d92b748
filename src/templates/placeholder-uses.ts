/** What uses a placeholder: mails that are not finished, templates and saved blocks whose text names it. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { prepared } from '../database/prepared.ts';
import { SINGLE_SEND_STATUS } from '../database/schema/index.ts';
import { placeholderNames, scan } from '../delivery/content/merge.ts';

/** Reading texts stops after this long, so that other requests are answered; one text can add a few milliseconds. */
const SLICE_MS = 4;

/** How many records use a placeholder. */
export interface PlaceholderUses {
  single_sends: number;
  automations: number;
  templates: number;
  blocks: number;
}

/** The texts of one kind of record, in rows: a record may have several, such as an automation its mails. */
interface Source {
  uses: keyof PlaceholderUses;
  /** Lists the rows of an account as `id` and `owner`, the record they belong to. */
  list: string;
  table: string;
  columns: readonly string[];
}

const MAIL_COLUMNS = ['subject', 'preheader', 'template_json', 'template_html'];
const SOURCES: readonly Source[] = [
  {
    uses: 'single_sends',
    list: `SELECT id, id AS owner FROM single_sends WHERE user_id = ? AND status <> ${SINGLE_SEND_STATUS.completed}`,
    table: 'single_sends',
    columns: MAIL_COLUMNS,
  },
  {
    uses: 'automations',
    list: `SELECT s.id, a.id AS owner FROM automations a CROSS JOIN automation_schedules s ON s.automation_id = a.id
      WHERE a.user_id = ? AND a.deleted_at IS NULL`,
    table: 'automation_schedules',
    columns: MAIL_COLUMNS,
  },
  {
    uses: 'templates',
    list: 'SELECT id, id AS owner FROM own_templates WHERE user_id = ?',
    table: 'own_templates',
    columns: ['json_code', 'html_code'],
  },
  {
    uses: 'blocks',
    list: 'SELECT id, id AS owner FROM saved_blocks WHERE user_id = ?',
    table: 'saved_blocks',
    columns: ['json_code'],
  },
];

/** Counts what uses the placeholder of this name in an account. Other requests are answered while it reads. */
export async function countPlaceholderUses(
  client: Database,
  accountId: number,
  name: string,
): Promise<PlaceholderUses> {
  const counts: PlaceholderUses = { single_sends: 0, automations: 0, templates: 0, blocks: 0 };
  let until = performance.now() + SLICE_MS;
  for (const { uses, list, table, columns } of SOURCES) {
    const owners = new Set<number>();
    const rows = prepared<[number], { id: number; owner: number }>(client, list).all(accountId);
    // Only texts with the name in them are read whole: finding it is much cheaper in SQL.
    const texts = columns.map((column) => `CASE WHEN instr(${column}, @name) THEN ${column} END AS ${column}`);
    const read = prepared<[{ id: number; name: string }], Record<string, string | null>>(
      client,
      `SELECT ${texts.join(', ')} FROM ${table} WHERE id = @id`,
    );
    for (const { id, owner } of rows) {
      if (performance.now() >= until) {
        await setImmediate();
        until = performance.now() + SLICE_MS;
      }
      // A record can be deleted in the meantime.
      const found = Object.values(read.get({ id, name }) ?? {});
      if (found.some((text) => text !== null && placeholderNames([scan(text)]).includes(name))) owners.add(owner);
    }
    counts[uses] = owners.size;
  }
  return counts;
}
