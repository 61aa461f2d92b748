/** Counts the records that use a placeholder: unfinished mails, templates and saved blocks that contain it. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { SINGLE_SEND_STATUS } from '../database/schema/index.ts';
import { placeholderNames, scan } from '../delivery/content/merge.ts';

/** How long texts are read before other requests are answered; one text can take a few milliseconds longer. */
const SLICE_MS = 4;

/** How many records use a placeholder. */
export interface PlaceholderUses {
  single_sends: number;
  automations: number;
  templates: number;
  blocks: number;
}

/** The texts of one kind of record. A record may have several rows, such as an automation with its mails. */
interface Source {
  uses: keyof PlaceholderUses;
  /** SQL that lists the rows of an account as `id` and `owner`, the record they belong to. */
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

/** Counts the records of an account that use the placeholder of this name. Other requests are answered meanwhile. */
export async function countPlaceholderUses(
  client: Database,
  accountId: number,
  name: string,
): Promise<PlaceholderUses> {
  const counts: PlaceholderUses = { single_sends: 0, automations: 0, templates: 0, blocks: 0 };
  let until = performance.now() + SLICE_MS;
  for (const { uses, list, table, columns } of SOURCES) {
    const owners = new Set<number>();
    const rows = client.prepare<[number], { id: number; owner: number }>(list).all(accountId);
    // Only texts that contain the name are read, because finding it is much cheaper in SQL.
    const texts = columns.map((column) => `CASE WHEN instr(${column}, @name) THEN ${column} END AS ${column}`);
    const read = client.prepare<[{ id: number; name: string }], Record<string, string | null>>(
      `SELECT ${texts.join(', ')} FROM ${table} WHERE id = @id`,
    );
    for (const { id, owner } of rows) {
      if (performance.now() >= until) {
        await setImmediate();
        until = performance.now() + SLICE_MS;
      }
      // A record may be deleted meanwhile.
      const texts = Object.values(read.get({ id, name }) ?? {});
      if (texts.some((text) => text !== null && placeholderNames([scan(text)]).includes(name))) owners.add(owner);
    }
    counts[uses] = owners.size;
  }
  return counts;
}
