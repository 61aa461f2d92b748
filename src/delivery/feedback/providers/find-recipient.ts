/** Finds whom and which of our mails an event is about: by our Message-ID, our return path, or the address and the time. */
import type { Database } from 'better-sqlite3';
import { parseAddress } from '../../../audience/contacts/addresses.ts';
import { isoTimestamp } from '../../../clock.ts';
import { prepared } from '../../../database/prepared.ts';
import { DELIVERY_STATE, MAILING_ENDED } from '../../../database/schema/index.ts';
import { parseReturnPath, parseTransactionalReturnPath } from '../../links/return-paths.ts';
import { tokenSecrets, unsignedLimits } from '../../links/tokens.ts';
import { findTransactionalMail, type ReturnedMail } from '../../transactional/returned.ts';
import type { ProviderEvent } from './provider-event.ts';

export interface Recipient {
  addressId: number;
  normalizedEmail: string;
  /** The mail; null when only the person is known. */
  delivery: { id: number; mailingId: number } | null;
  /** The id of the transactional mail; null when it is none. */
  transactionalId: number | null;
}

/** How far clocks may be apart, and how late a mail may be recorded as accepted. */
const CLOCKS_APART_MS = 60 * 60_000;
/** An event that names only an address is about a mail that left at most so long before it. */
const LATEST_MS = 30 * 24 * 60 * 60_000;
const MESSAGE_ID = /^<?([0-9a-f]{18})\.(t?)(\d{1,15})@[^@\s<>]{1,255}>?$/;

/** The mailings of which mails can have been accepted since @since. */
const RECENT = (kinds: string) => `WHERE user_id = @account AND owner_kind ${kinds} AND ${MAILING_ENDED} >= @since`;

/** Exported so that a test can check its query plan. */
export const LAST_ACCEPTED_BEFORE = `
  SELECT max(d.id) AS id, d.mailing_id FROM (
      SELECT id FROM mailings INDEXED BY mailings_recent ${RECENT("IN ('single', 'schedule')")}
      UNION ALL SELECT id FROM mailings INDEXED BY mailings_recent_others ${RECENT("NOT IN ('single', 'schedule')")}) m
    CROSS JOIN deliveries d INDEXED BY deliveries_person ON d.mailing_id = m.id AND d.address_id = @address
  WHERE d.state = ${DELIVERY_STATE.accepted} AND d.updated_at BETWEEN @from AND @until`;

interface Row {
  id: number;
  mailing_id: number;
  address_id: number;
  user_id: number;
  message_key: string;
  normalized_email: string;
}

/**
 * Reads whom events are about; `now` is epoch milliseconds. One is used for many events, because it keeps the secrets that sign return
 * paths.
 */
export function recipientFinder(
  client: Database,
  now: number,
): (accountId: number, event: ProviderEvent) => Recipient | null {
  const secrets = tokenSecrets(client);
  const unsignedUpTo = unsignedLimits(client).deliveries;
  const findRow = (id: number) =>
    prepared<[number], Row>(
      client,
      `SELECT d.id, d.mailing_id, d.address_id, m.user_id, m.content ->> 'message_key' AS message_key, a.normalized_email
       FROM deliveries d JOIN mailings m ON m.id = d.mailing_id JOIN addresses a ON a.id = d.address_id WHERE d.id = ?`,
    ).get(id);

  function findMail({ messageId, returnPath }: ProviderEvent): Row | undefined {
    const [, key, kind, id] = MESSAGE_ID.exec(messageId?.trim().slice(0, 400) ?? '') ?? [];
    const named = id === undefined || kind !== '' ? undefined : findRow(Number(id));
    if (named !== undefined && named.message_key === key) return named;
    if (returnPath === null) return undefined;
    const findEmail = (deliveryId: number) => findRow(deliveryId)?.normalized_email;
    const returned = parseReturnPath(secrets, { findEmail, unsignedUpTo }, returnPath);
    return returned === null ? undefined : findRow(returned);
  }

  function findTransactional({ messageId, returnPath }: ProviderEvent): ReturnedMail | undefined {
    const [, key, kind, id] = MESSAGE_ID.exec(messageId?.trim().slice(0, 400) ?? '') ?? [];
    const named = kind === 't' ? findTransactionalMail(client, Number(id)) : undefined;
    if (named !== undefined && named.message_key === key) return named;
    if (returnPath === null) return undefined;
    const findEmail = (mailId: number) => findTransactionalMail(client, mailId)?.normalized_email;
    const returned = parseTransactionalReturnPath(secrets, findEmail, returnPath);
    return returned === null ? undefined : findTransactionalMail(client, returned);
  }

  return (accountId, event) => {
    const single = findTransactional(event);
    if (single !== undefined) {
      if (single.user_id !== accountId) return null;
      const { id: transactionalId, address_id: addressId, normalized_email: normalizedEmail } = single;
      return { addressId, normalizedEmail, delivery: null, transactionalId };
    }
    const mail = findMail(event);
    if (mail !== undefined) {
      // A mail of another account, which shares the provider: nothing is said about people of this one.
      if (mail.user_id !== accountId) return null;
      const { id, mailing_id: mailingId, address_id: addressId, normalized_email: normalizedEmail } = mail;
      return { addressId, normalizedEmail, delivery: { id, mailingId }, transactionalId: null };
    }
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
