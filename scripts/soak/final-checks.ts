/** The end of a soak: whether everything that was taken on was done, once, and the counters say so. */
import type { Database } from 'better-sqlite3';
import { mailingCounters } from '../../fixtures/mailing-counters.ts';

/** Whether nothing is left to be sent. */
export function isSettled(client: Database): boolean {
  const open = client
    .prepare(`
      SELECT (SELECT count(*) FROM deliveries WHERE state IN (0, 1)) + (SELECT count(*) FROM membership_changes)
        + (SELECT count(*) FROM mailings WHERE finished_at IS NULL AND state = 'enqueueing')
        + (SELECT count(*) FROM single_sends WHERE status <> 3)
        + (SELECT count(*) FROM enrolments WHERE state = 'active')`)
    .pluck();
  return open.get() === 0;
}

/**
 * Returns everything that is wrong, in words. `mails`: how often each address got mail, as counted by the relay.
 * `left`: the addresses whose unsubscribe was answered.
 */
export function wrongs(client: Database, mails: Record<string, number>, left: ReadonlySet<number>): string[] {
  const found: string[] = [];
  const claim = (isTrue: boolean, text: string) => {
    if (!isTrue) found.push(text);
  };
  const accepted = client
    .prepare<[], { address: string; count: number }>(`
      SELECT a.normalized_email AS address, count(*) AS count FROM deliveries d JOIN addresses a ON a.id = d.address_id
      WHERE d.state = 2 GROUP BY d.address_id`)
    .all();
  let missing = 0;
  let twice = 0;
  for (const { address, count } of accepted) {
    missing += Math.max(0, count - (mails[address] ?? 0));
    twice += Math.max(0, (mails[address] ?? 0) - count);
    delete mails[address];
  }
  const unknown = Object.keys(mails).length;
  claim(missing === 0, `${missing} mails the ledger calls accepted never reached the relay`);
  claim(twice === 0, `${twice} mails reached the relay once more than the ledger says`);
  claim(unknown === 0, `${unknown} addresses got mail that the ledger does not know`);
  for (const { name, kept, right } of mailingCounters(client))
    claim(
      JSON.stringify(kept) === JSON.stringify(right),
      `${name}: ${JSON.stringify(kept)} instead of ${JSON.stringify(right)}`,
    );
  const opens = client
    .prepare(`
      SELECT count(*) FROM mailings m
      WHERE unique_opens <> (SELECT count(*) FROM deliveries d WHERE d.mailing_id = m.id AND d.opened_at IS NOT NULL)`)
    .pluck();
  claim(opens.get() === 0, 'unique_opens differs from the ledger');
  const types = client
    .prepare(`
      SELECT count(*) FROM contact_types t WHERE contacts_count <>
        (SELECT count(*) FROM contacts c WHERE c.contact_type_id = t.id AND c.deleted_at IS NULL)`)
    .pluck();
  claim(types.get() === 0, 'contacts_count differs from the contacts');
  const isOff = client.prepare('SELECT 1 FROM unsubscribers WHERE address_id = ?').pluck();
  const lost = [...left].filter((person) => isOff.get(person) === undefined).length;
  claim(lost === 0, `${lost} unsubscribes were answered and lost`);
  const integrity = client.pragma('integrity_check', { simple: true });
  claim(integrity === 'ok', `integrity_check: ${integrity}`);
  const dangling = Object(client.pragma('foreign_key_check')).length;
  claim(dangling === 0, `foreign_key_check: ${dangling} rows`);
  return found;
}
