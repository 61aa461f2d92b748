/** Queries that are prepared once for each connection. Building the SQL of a query takes several times as long as reading a row with it. */
import type { Db } from './open.ts';

/** Returns a function that gives the query of a connection. `prepare` makes the query when it is first used. */
export function preparedOnce<Query extends object>(prepare: (db: Db) => Query): (db: Db) => Query {
  const queries = new WeakMap<Db, Query>();
  return (db) => {
    let query = queries.get(db);
    if (query === undefined) {
      query = prepare(db);
      queries.set(db, query);
    }
    return query;
  };
}
