/** Finds the recipient to whom an event of a mail provider refers. */
import type { Database } from 'better-sqlite3';
import { findAddressId } from '../../../audience/contacts/address-rows.ts';
import { parseAddress } from '../../../audience/contacts/addresses.ts';
import { DELIVERY_STATE, MAILING_ENDED } from '../../../database/schema/index.ts';
import { isoTimestamp } from '../../../time/clock.ts';
import { DAY_MS, HOUR_MS } from '../../../units.ts';
import { mailFinder, type Recipient } from '../find-mail.ts';
import type { ProviderEvent } from './provider-event.ts';

/** The maximum difference between clocks, plus the delay until a mail is recorded as accepted, in milliseconds. */
const MAX_CLOCK_DIFFERENCE_MS = HOUR_MS;
/** How long after a mail an event that gives only an address is matched to the mail, in milliseconds. */
const MAX_DELAY_MS = 30 * DAY_MS;

/** Returns the condition for the mailings that may have had mails accepted since @since. */
const recentMailings = (kinds: string) =>
  `WHERE user_id = @account AND owner_kind ${kinds} AND ${MAILING_ENDED} >= @since`;

/** Finds the latest mail to an address in the time before an event. Exported so that a test can check the query plan. */
export const LAST_ACCEPTED_BEFORE = `
  SELECT max(d.id) AS id, d.mailing_id FROM (
      SELECT id FROM mailings INDEXED BY mailings_recent ${recentMailings("IN ('single', 'schedule')")}
      UNION ALL SELECT id FROM mailings INDEXED BY mailings_recent_others ${recentMailings("NOT IN ('single', 'schedule')")}) m
    CROSS JOIN deliveries d INDEXED BY deliveries_person ON d.mailing_id = m.id AND d.address_id = @address
  WHERE d.state = ${DELIVERY_STATE.accepted} AND d.updated_at BETWEEN @from AND @until`;

/**
 * Returns a function that finds the recipient to whom an event refers. Create it once for many events, because it keeps the keys of return paths.
 * `now` is in epoch milliseconds.
 */
export function recipientFinder(
  client: Database,
  now: number,
): (accountId: number, event: ProviderEvent) => Recipient | null {
  const findMail = mailFinder(client);

  return (accountId, event) => {
    const mail = findMail(event);
    // A mail of another account that uses the same provider says nothing about this account's contacts.
    if (mail !== null) return mail.accountId === accountId ? mail.recipient : null;
    const address = parseAddress(event.recipient ?? '');
    if (address === null) return null;
    const addressId = findAddressId(client, accountId, address);
    if (addressId === undefined) return null;
    const at = event.happenedAt ?? now;
    const from = at - MAX_DELAY_MS;
    // A request may contain a time that is out of the range of dates.
    const since = isoTimestamp(new Date(Math.min(Math.max(0, from), now)));
    const last = client.prepare<[object], { id: number | null; mailing_id: number | null }>(LAST_ACCEPTED_BEFORE).get({
      address: addressId,
      account: accountId,
      since,
      from,
      until: at + MAX_CLOCK_DIFFERENCE_MS,
    });
    const delivery = last?.id == null || last.mailing_id === null ? null : { id: last.id, mailingId: last.mailing_id };
    return { addressId, normalizedEmail: address.normalized, delivery, transactionalId: null };
  };
}
