/** Finds whom and which of our mails an event of a provider is about: by the mail itself, or by the address and the time. */
import type { Database } from 'better-sqlite3';
import { parseAddress } from '../../../audience/contacts/addresses.ts';
import { isoTimestamp } from '../../../clock.ts';
import { prepared } from '../../../database/prepared.ts';
import { DELIVERY_STATE, MAILING_ENDED } from '../../../database/schema/index.ts';
import { mailFinder, type Recipient } from '../find-mail.ts';
import type { ProviderEvent } from './provider-event.ts';

/** How far clocks may be apart, and how late a mail may be recorded as accepted. */
const CLOCKS_APART_MS = 60 * 60_000;
/** An event that names only an address is about a mail that left at most so long before it. */
const LATEST_MS = 30 * 24 * 60 * 60_000;

/** The mailings of which mails can have been accepted since @since. */
const RECENT = (kinds: string) => `WHERE user_id = @account AND owner_kind ${kinds} AND ${MAILING_ENDED} >= @since`;

/** Exported so that a test can check its query plan. */
export const LAST_ACCEPTED_BEFORE = `
  SELECT max(d.id) AS id, d.mailing_id FROM (
      SELECT id FROM mailings INDEXED BY mailings_recent ${RECENT("IN ('single', 'schedule')")}
      UNION ALL SELECT id FROM mailings INDEXED BY mailings_recent_others ${RECENT("NOT IN ('single', 'schedule')")}) m
    CROSS JOIN deliveries d INDEXED BY deliveries_person ON d.mailing_id = m.id AND d.address_id = @address
  WHERE d.state = ${DELIVERY_STATE.accepted} AND d.updated_at BETWEEN @from AND @until`;

/**
 * Reads whom events are about; `now` is epoch milliseconds. One is used for many events, because it keeps the secrets that sign return
 * paths.
 */
export function recipientFinder(
  client: Database,
  now: number,
): (accountId: number, event: ProviderEvent) => Recipient | null {
  const findMail = mailFinder(client);

  return (accountId, event) => {
    const mail = findMail(event);
    // A mail of another account, which shares the provider: nothing is said about people of this one.
    if (mail !== null) return mail.accountId === accountId ? mail.recipient : null;
    const address = parseAddress(event.recipient ?? '');
    if (address === null) return null;
    const addressId = prepared<[number, string], { id: number }>(
      client,
      'SELECT id FROM addresses WHERE user_id = ? AND normalized_email = ?',
    ).get(accountId, address.normalized)?.id;
    if (addressId === undefined) return null;
    const at = event.happenedAt ?? now;
    const from = at - LATEST_MS;
    // A request may name a time of which no date can be made.
    const since = isoTimestamp(new Date(Math.min(Math.max(0, from), now)));
    const last = prepared<[object], { id: number | null; mailing_id: number | null }>(client, LAST_ACCEPTED_BEFORE).get(
      {
        ...{ address: addressId, account: accountId },
        ...{ since, from, until: at + CLOCKS_APART_MS },
      },
    );
    const delivery = last?.id == null || last.mailing_id === null ? null : { id: last.id, mailingId: last.mailing_id };
    return { addressId, normalizedEmail: address.normalized, delivery, transactionalId: null };
  };
}
