/** Queries that are prepared once for each connection. Building the SQL of a query takes several times as long as reading a row with it. */
import type { Db } from './open.ts';

/** Returns a function that gives the query of a connection, which `prepare` makes at the first use. */
export function preparedOnce<Query>(prepare: (db: Db) => Query): (db: Db) => Query {
  const queries = new WeakMap<Db, { query: Query }>();
  return (db) => {
    const known = queries.get(db) ?? { query: prepare(db) };
    queries.set(db, known);
    return known.query;
  };
}
