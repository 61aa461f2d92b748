/**
 * The search of the list of contacts: those whose address and full name together contain a text, by ascending id. Parts of it that the
 * index can look for choose the candidates; each is then compared with the whole text. A text without such a part, of one or two
 * characters, is compared with every contact.
 */
import type { Database } from 'better-sqlite3';
import type { Found } from '../../database/record-json.ts';
import { filterCondition } from './contact-filter.ts';
import { Pace } from './pace.ts';
import { BLOCK, indexedUntil } from './search-index.ts';
import { indexQuery, partsOfText } from './search-text.ts';

/** At most so many contacts are found in a step: making their records takes as long as comparing some thousands. */
const MOST_FOUND = 500;

interface ListSearch {
  accountId: number;
  typeId: number | undefined;
  text: string;
}

/** Gives what finds the next contacts after an id. Every call is one short step, which may find none although there are more. */
export function listSearch(
  client: Database,
  { accountId, typeId, text }: ListSearch,
): (afterId: number, limit: number) => Found {
  const condition = filterCondition({ accountId, typeId }, '');
  const matching = client
    .prepare<unknown[], number>(`
      SELECT c.id FROM json_each(@ids) i CROSS JOIN contacts c ON c.id = i.value
      WHERE ${condition.text} AND instr(fold(c.email || ' ' || trim(c.first_name || ' ' || c.last_name)), fold(@text)) > 0
      ORDER BY i.key LIMIT @limit`)
    .pluck();
  const candidates = candidatesOf(client, { accountId, typeId, text });
  const pace = new Pace();
  return (afterId, limit) =>
    pace.step((count) => {
      const { ids, next } = candidates(afterId, count);
      const most = Math.min(limit, MOST_FOUND);
      const found = matching.all({ ...condition.values, ids: JSON.stringify(ids), text, limit: most });
      return { ids: found, next: found.length === most ? (found.at(-1) ?? next) : next };
    });
}

/** What gives the next contacts to compare: about `count` after an id. */
function candidatesOf(
  client: Database,
  { accountId, typeId, text }: ListSearch,
): (afterId: number, count: number) => Found {
  const [index, owner] = typeId === undefined ? ['contacts_user', 'user_id'] : ['contacts_type', 'contact_type_id'];
  const all = client
    .prepare<[number, number, number], number>(
      `SELECT id FROM contacts INDEXED BY ${index} WHERE ${owner} = ? AND deleted_at IS NULL AND id > ? ORDER BY id LIMIT ?`,
    )
    .pluck();
  const fromAll = (afterId: number, count: number): Found => {
    const ids = all.all(typeId ?? accountId, afterId, count);
    return { ids, next: ids.length < count ? null : (ids.at(-1) ?? null) };
  };

  const parts = partsOfText(text);
  if (parts.length === 0) return fromAll;
  const hasOthers = client.prepare<[number], number>('SELECT EXISTS (SELECT 1 FROM accounts WHERE id <> ?)').pluck();
  const query = indexQuery(parts, hasOthers.get(accountId) === 1 ? accountId : null);
  const changed = client
    .prepare<[number, number], number>(
      'SELECT block FROM contact_search_changes WHERE block >= ? ORDER BY block LIMIT ?',
    )
    .pluck();
  const indexed = client
    .prepare<[string, number, number], number>(
      'SELECT rowid FROM contact_search WHERE contact_search MATCH ? AND rowid >= ? ORDER BY rowid LIMIT ?',
    )
    .pluck();
  return (afterId, count) => {
    const until = indexedUntil(client);
    if (afterId >= until) return fromAll(afterId, count);
    const start = Math.floor((afterId + 1) / BLOCK);
    const most = Math.ceil(count / BLOCK);
    // Read before the index, so that a block that gets into the index between the two is not missed.
    const stale = changed.all(start, most);
    const blocks = [...new Set([...stale, ...indexed.all(query, start, most)])].sort((a, b) => a - b).slice(0, most);
    const lastBlock = blocks.length < most ? undefined : blocks.at(-1);
    // Contacts after the last one in the index are compared one by one.
    const end = lastBlock === undefined ? until : Math.min(until, lastBlock * BLOCK + BLOCK - 1);
    const ids = blocks
      .flatMap((block) => Array.from({ length: BLOCK }, (_, at) => block * BLOCK + at))
      .filter((id) => id > afterId && id <= end);
    return { ids, next: end };
  };
}
