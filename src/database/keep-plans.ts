/** Keeps SQLite from planning a statement again each time it runs. */
import type { Database } from 'better-sqlite3';

/** A parameter that something is compared with, or that limits the rows. */
const PARAMETER = /(=|<|>|\b(?:LIMIT|OFFSET))\s*(?=[?@]\w*)/gi;

/**
 * From now on statements of this connection are planned once. Otherwise SQLite looks at the values of parameters that columns are compared
 * with, and at that of LIMIT, and prepares a statement whose plan these values might influence again in each run, which costs more than
 * most of our statements (https://sqlite.org/c3ref/prepare.html). A plus before the parameter, as in `d.id = +?`, prevents this and changes
 * nothing else. `npm run bench:plans` measures both.
 */
export function keepPlans(client: Database): void {
  const prepare = client.prepare.bind(client);
  client.prepare = (text: string) => prepare(text.replaceAll(PARAMETER, '$1 +'));
}
