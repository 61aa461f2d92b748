/** How many messages of sender nodes were refused, by kind, since the installation was set up. */
import type { Database } from 'better-sqlite3';
import { findNamedValue } from '../../database/named-values.ts';
import { prepared } from '../../database/prepared.ts';

/**
 * report: a malformed one; result: of a delivery that the node never had; sign_of_life: malformed, or in the name of another node; choice and
 * hits: malformed, or not of this installation; question: malformed.
 */
export const REFUSED_MESSAGES = ['report', 'result', 'sign_of_life', 'choice', 'hits', 'question'] as const;
export type RefusedMessage = (typeof REFUSED_MESSAGES)[number];

const NAME = 'refused_node_messages';

/** Adds to how many were refused. One statement, so that threads that write at the same time lose nothing. */
export function addRefusedMessages(client: Database, kind: RefusedMessage, count: number): void {
  const path = `$.${kind}`;
  prepared(
    client,
    `INSERT INTO installation (name, value) VALUES (@name, json_object(@kind, @count))
     ON CONFLICT (name) DO UPDATE SET value = json_set(value, @path, ifnull(json_extract(value, @path), 0) + @count)`,
  ).run({ name: NAME, kind, path, count: BigInt(count) });
}

/** How many were refused of each kind. */
export function refusedMessages(client: Database): Record<RefusedMessage, number> {
  const stored: Partial<Record<RefusedMessage, number>> = JSON.parse(findNamedValue(client, NAME) ?? '{}');
  const { report = 0, result = 0, sign_of_life = 0, choice = 0, hits = 0, question = 0 } = stored;
  return { report, result, sign_of_life, choice, hits, question };
}
