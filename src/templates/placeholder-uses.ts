/** Counts the records that use a placeholder: unfinished single sends, automations, feeds, templates and saved blocks. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { SINGLE_SEND_STATUS } from '../database/schema/index.ts';
import { namesInCode } from '../delivery/content/names-in-code.ts';

/** How long texts are read before other requests are answered. One text can take a few milliseconds longer. */
const SLICE_MS = 4;

/** The numbers of records that use a placeholder, by kind of record. */
export interface PlaceholderUses {
  single_sends: number;
  automations: number;
  feeds: number;
  templates: number;
  blocks: number;
}

/** The texts of one kind of record. A record may have several rows, such as an automation with its mails. */
interface Source {
  kind: keyof PlaceholderUses;
  /** SQL that lists the rows of an account: their `id`, and as `owner` the id of the record that a row belongs to. */
  list: string;
  table: string;
  columns: readonly string[];
}

const MAIL_COLUMNS = ['subject', 'preheader', 'template_json', 'template_html', 'languages'];
const SOURCES: readonly Source[] = [
  {
    kind: 'single_sends',
    list: `SELECT id, id AS owner FROM single_sends WHERE user_id = ? AND status <> ${SINGLE_SEND_STATUS.completed}`,
    table: 'single_sends',
    columns: [...MAIL_COLUMNS, 'ab_test'],
  },
  {
    kind: 'automations',
    list: `SELECT s.id, a.id AS owner FROM automations a CROSS JOIN automation_schedules s ON s.automation_id = a.id
      WHERE a.user_id = ? AND a.deleted_at IS NULL`,
    table: 'automation_schedules',
    columns: MAIL_COLUMNS,
  },
  {
    kind: 'feeds',
    list: 'SELECT id, id AS owner FROM feeds WHERE user_id = ?',
    table: 'feeds',
    columns: ['subject', 'languages'],
  },
  {
    kind: 'templates',
    list: 'SELECT id, id AS owner FROM own_templates WHERE user_id = ?',
    table: 'own_templates',
    columns: ['json_code', 'html_code', 'languages'],
  },
  {
    kind: 'blocks',
    list: 'SELECT id, id AS owner FROM saved_blocks WHERE user_id = ?',
    table: 'saved_blocks',
    columns: ['json_code'],
  },
];

/** Counts the records of an account that use the placeholder with this name. Other requests are answered while it counts. */
export async function countPlaceholderUses(
  client: Database,
  accountId: number,
  name: string,
): Promise<PlaceholderUses> {
  const counts: PlaceholderUses = { single_sends: 0, automations: 0, feeds: 0, templates: 0, blocks: 0 };
  let sliceEnd = performance.now() + SLICE_MS;
  for (const { kind, list, table, columns } of SOURCES) {
    const owners = new Set<number>();
    const rows = client.prepare<[number], { id: number; owner: number }>(list).all(accountId);
    // Only texts that contain the name are read, because SQL finds the name much faster.
    const selected = columns.map((column) => `CASE WHEN instr(${column}, @name) THEN ${column} END AS ${column}`);
    const read = client.prepare<[{ id: number; name: string }], Record<string, string | null>>(
      `SELECT ${selected.join(', ')} FROM ${table} WHERE id = @id`,
    );
    for (const { id, owner } of rows) {
      if (performance.now() >= sliceEnd) {
        await setImmediate();
        sliceEnd = performance.now() + SLICE_MS;
      }
      // The record may have been deleted while other requests were answered.
      const texts = Object.values(read.get({ id, name }) ?? {});
      if (texts.some((text) => text !== null && namesInCode([text]).includes(name))) owners.add(owner);
    }
    counts[kind] = owners.size;
  }
  return counts;
}
