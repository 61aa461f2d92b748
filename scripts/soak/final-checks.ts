/** Checks at the end of a soak that all accepted work was done exactly once, and that the counters agree. */
import type { Database } from 'better-sqlite3';
import { mailingCounters } from '../../fixtures/mailing-counters.ts';

/** True if no mail waits to be sent. */
export function isSettled(client: Database): boolean {
  const unfinished = client
    .prepare(`
      SELECT (SELECT count(*) FROM deliveries WHERE state IN (0, 1)) + (SELECT count(*) FROM membership_changes)
        + (SELECT count(*) FROM mailings WHERE finished_at IS NULL AND state = 'enqueueing')
        + (SELECT count(*) FROM single_sends WHERE status <> 3)
        + (SELECT count(*) FROM enrolments WHERE state = 'active')`)
    .pluck();
  return unfinished.get() === 0;
}

/**
 * Returns a sentence for everything that is wrong. `mails` says how many mails the relay got for each e-mail address; its entries are
 * removed. `unsubscribed` has the ids of the addresses whose unsubscribe was answered.
 */
export function findProblems(
  client: Database,
  mails: Record<string, number>,
  unsubscribed: ReadonlySet<number>,
): string[] {
  const problems: string[] = [];
  const expect = (isTrue: boolean, problem: string) => {
    if (!isTrue) problems.push(problem);
  };
  const accepted = client
    .prepare<[], { address: string; count: number }>(`
      SELECT a.normalized_email AS address, count(*) AS count FROM deliveries d JOIN addresses a ON a.id = d.address_id
      WHERE d.state = 2 GROUP BY d.address_id`)
    .all();
  let missing = 0;
  let repeated = 0;
  for (const { address, count } of accepted) {
    missing += Math.max(0, count - (mails[address] ?? 0));
    repeated += Math.max(0, (mails[address] ?? 0) - count);
    delete mails[address];
  }
  const unknown = Object.keys(mails).length;
  expect(missing === 0, `${missing} mails that the ledger calls accepted never reached the relay`);
  expect(repeated === 0, `${repeated} mails reached the relay once more than the ledger says`);
  expect(unknown === 0, `${unknown} addresses got mail that the ledger does not know`);
  for (const { name, kept, right } of mailingCounters(client))
    expect(
      JSON.stringify(kept) === JSON.stringify(right),
      `${name}: ${JSON.stringify(kept)} instead of ${JSON.stringify(right)}`,
    );
  const opens = client
    .prepare(`
      SELECT count(*) FROM mailings m
      WHERE unique_opens <> (SELECT count(*) FROM deliveries d WHERE d.mailing_id = m.id AND d.opened_at IS NOT NULL)`)
    .pluck();
  expect(opens.get() === 0, 'unique_opens differs from the ledger');
  const types = client
    .prepare(`
      SELECT count(*) FROM contact_types t WHERE contacts_count <>
        (SELECT count(*) FROM contacts c WHERE c.contact_type_id = t.id AND c.deleted_at IS NULL)`)
    .pluck();
  expect(types.get() === 0, 'contacts_count differs from the contacts');
  const unsubscribe = client.prepare('SELECT 1 FROM unsubscribers WHERE address_id = ?').pluck();
  const lost = [...unsubscribed].filter((addressId) => unsubscribe.get(addressId) === undefined).length;
  expect(lost === 0, `${lost} unsubscribes were answered and lost`);
  const integrity = client.pragma('integrity_check', { simple: true });
  expect(integrity === 'ok', `integrity_check: ${integrity}`);
  const dangling = Object(client.pragma('foreign_key_check')).length;
  expect(dangling === 0, `foreign_key_check: ${dangling} rows`);
  return problems;
}
