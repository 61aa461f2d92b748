/** The search of the API's list of contacts: contacts whose address and full name together contain a text. */
import type { Database } from 'better-sqlite3';
import type { FoundIds } from '../../database/record-json.ts';
import { filterCondition } from './contact-filter.ts';
import { blockReader, idReader, idsIn } from './find-contacts.ts';
import { Pace } from './pace.ts';
import { BLOCK, indexedUntil } from './search-index.ts';
import { anyTrigramQuery, indexQuery, partsOfText, shortPartOfText, trigramsBeginningWith } from './search-text.ts';

/** The maximum number of contacts found in a step, because making their records takes as long as comparing some thousands. */
const MAX_FOUND = 500;

interface ListSearch {
  accountId: number;
  typeId: number | undefined;
  text: string;
}

/**
 * Returns a function that finds the next matching contacts after an id, by ascending id. Every call is one short step, which may find none
 * although there are more. The index finds candidates by the parts of the text that it can look for; each candidate is then compared with
 * the whole text. If the text has only parts of one or two characters and they are frequent, every contact is compared.
 */
export function listSearch(
  client: Database,
  { accountId, typeId, text }: ListSearch,
): (afterId: number, limit: number) => FoundIds {
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
      const maxMatches = Math.min(limit, MAX_FOUND);
      const matches = matching.all({ ...condition.values, ids: JSON.stringify(ids), text, limit: maxMatches });
      return { ids: matches, next: matches.length === maxMatches ? (matches.at(-1) ?? next) : next };
    });
}

/** Returns a function that reads the blocks of the index with contacts that may have a text; null if it cannot look for the text. */
function blocksWithText(client: Database, accountId: number, text: string): ReturnType<typeof blockReader> | null {
  const parts = partsOfText(text);
  if (parts.length > 0) return blockReader(client, accountId, (account) => indexQuery(parts, account), true);
  const short = shortPartOfText(text);
  const trigrams = short === '' ? null : trigramsBeginningWith(client, short);
  if (trigrams === null) return null;
  if (trigrams.length === 0) return () => [];
  return blockReader(client, accountId, (account) => anyTrigramQuery(trigrams, account), true);
}

/** Returns a function that reads the next contacts to compare: about `count` after an id. */
function candidatesOf(
  client: Database,
  { accountId, typeId, text }: ListSearch,
): (afterId: number, count: number) => FoundIds {
  const fromAll = idReader(client, { accountId, typeId }, true);
  const indexed = blocksWithText(client, accountId, text);
  if (indexed === null) return fromAll;
  const changed = client
    .prepare<[number, number], number>(
      'SELECT block FROM contact_search_changes WHERE block >= ? ORDER BY block LIMIT ?',
    )
    .pluck();
  return (afterId, count) => {
    const until = indexedUntil(client);
    if (afterId >= until) return fromAll(afterId, count);
    const start = Math.floor((afterId + 1) / BLOCK);
    const maxBlocks = Math.ceil(count / BLOCK);
    // Changed blocks are read before the index, so that a block that is indexed between the two reads is not missed.
    const stale = changed.all(start, maxBlocks);
    const blocks = [...new Set([...stale, ...indexed(start, maxBlocks)])].sort((a, b) => a - b).slice(0, maxBlocks);
    const lastBlock = blocks.length < maxBlocks ? undefined : blocks.at(-1);
    // Contacts after the last indexed one are compared one by one.
    const end = lastBlock === undefined ? until : Math.min(until, lastBlock * BLOCK + BLOCK - 1);
    const ids = blocks.flatMap(idsIn).filter((id) => id > afterId && id <= end);
    return { ids, next: end };
  };
}
