/** Checks that the counters of a finished mailing agree with its deliveries. */

/**
 * What is wrong, in words, with the only mailing of a database that everybody should have got: how many are counted as delivered, and the
 * counters beside the ledger. `read` gives the first row of a query.
 */
export function ledgerProblems(people: number, read: (sql: string) => Record<string, unknown>): string[] {
  const counters = read('SELECT triggered, delivered, bounces, failed, suppressed, cancelled FROM mailings');
  const rows = read(`
    SELECT sum(attempt > 0) AS triggered, sum(state = 2) AS delivered, sum(state = 3) AS bounces, sum(state = 4) AS failed,
      sum(state = 5) AS suppressed, sum(state = 6) AS cancelled FROM deliveries`);
  return [
    counters.delivered !== people && `${counters.delivered} of ${people} are counted as delivered`,
    JSON.stringify(counters) !== JSON.stringify(rows) &&
      `the counters ${JSON.stringify(counters)} are not the ledger's ${JSON.stringify(rows)}`,
  ].filter((problem) => problem !== false);
}
