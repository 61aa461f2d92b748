/** A connection to the database whose statements SQLite plans once. */
import Database from 'better-sqlite3';

/** A parameter that something is compared with, or that limits the rows. */
const PARAMETER = /(=|<|>|\b(?:LIMIT|OFFSET))\s*(?=[?@]\w*)/gi;

/**
 * Like `Database`, but each statement is planned once. Otherwise SQLite looks at the values of parameters that columns
 * are compared with, and at that of LIMIT. If these values might influence the plan, it prepares the statement again in
 * each run, which costs more than running most of our statements (https://sqlite.org/c3ref/prepare.html). A plus before
 * the parameter, as in `d.id = +?`, prevents this without changing the result (`npm run bench:plans`). A value that the
 * condition of a partial index names must therefore stand in the text of a statement, and no text in quotes may contain
 * `= ?`.
 */
export class Connection extends Database {
  override prepare<Parameters extends unknown[] | object = unknown[], Result = unknown>(text: string) {
    return super.prepare<Parameters, Result>(text.replaceAll(PARAMETER, '$1 +'));
  }
}
