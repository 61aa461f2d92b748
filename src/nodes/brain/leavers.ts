/** Who has left since the last look: unsubscribed or suppressed, by whatever way. What nodes have for them is decided anew. */
import type { Database, Statement } from 'better-sqlite3';

export class Leavers {
  readonly #since: Statement<
    { unsubscribed: number; suppressed: number },
    { kind: number; id: number; address: number }
  >;
  readonly #last: { unsubscribed: number; suppressed: number };

  constructor(client: Database) {
    this.#since = client.prepare(`
      SELECT 0 AS kind, id, address_id AS address FROM unsubscribers WHERE id > @unsubscribed
      UNION ALL SELECT 1, id, address_id FROM suppressions WHERE id > @suppressed`);
    const newest = (table: string) => Number(client.prepare(`SELECT ifnull(max(id), 0) FROM ${table}`).pluck().get());
    this.#last = { unsubscribed: newest('unsubscribers'), suppressed: newest('suppressions') };
  }

  /** Their address ids. */
  look(): Set<number> {
    const found = this.#since.all(this.#last);
    for (const { kind, id } of found) {
      const which = kind === 0 ? 'unsubscribed' : 'suppressed';
      this.#last[which] = Math.max(this.#last[which], id);
    }
    return new Set(found.map(({ address }) => address));
  }
}
