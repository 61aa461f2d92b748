/**
 * Finds one of our mails by values known only to those who have seen the mail: its Message-ID, its return path, or the unsubscribe link in
 * its header.
 */
import type { Database } from 'better-sqlite3';
import { parseReturnPath, parseTransactionalReturnPath } from '../links/return-paths.ts';
import { ownReturnPathKeys, returnPathKeys } from '../links/secrets.ts';
import { openTokens, unsignedLimits } from '../links/tokens.ts';
import { findTransactionalMail, type ReturnedMail } from '../transactional/returned.ts';

export interface Recipient {
  addressId: number;
  normalizedEmail: string;
  /** The delivery; null for a transactional mail. */
  delivery: { id: number; mailingId: number } | null;
  /** The id of the transactional mail; null for other mail. */
  transactionalId: number | null;
}

interface MailIdentifiers {
  messageId: string | null;
  returnPath: string | null;
  /** The token in the List-Unsubscribe URL. */
  unsubscribeToken?: string | null;
}

/** One of our mails, with its account and its recipient. */
export interface FoundMail {
  accountId: number;
  recipient: Recipient;
}

/** Matches a Message-ID of ours: a random key, `t` for a transactional mail, and the id of the delivery or of the transactional mail. */
const MESSAGE_ID = /^<?([0-9a-f]{18})\.(t?)(\d{1,15})@[^@\s<>]{1,255}>?$/;

/** The maximum number of characters of a Message-ID that are searched. */
const MAX_MESSAGE_ID = 400;

/** Returns the parts of a Message-ID, or none if it is not one of ours. */
function parseMessageId(messageId: string | null): { key?: string; kind?: string; id?: string } {
  const [, key, kind, id] = MESSAGE_ID.exec(messageId?.trim().slice(0, MAX_MESSAGE_ID) ?? '') ?? [];
  return id === undefined || key === undefined || kind === undefined ? {} : { key, kind, id };
}

interface Row extends ReturnedMail {
  mailing_id: number;
}

/**
 * Returns a function that finds a mail by its identifiers, or null if none is ours. Create it once for many mails, because it keeps the
 * keys of return paths.
 */
export function mailFinder(client: Database): (names: MailIdentifiers) => FoundMail | null {
  const keys = returnPathKeys(client);
  const ownKeys = ownReturnPathKeys(client);
  const unsignedUpTo = unsignedLimits(client).deliveries;
  const findRow = (id: number) =>
    client
      .prepare<[number], Row>(`
       SELECT d.id, d.mailing_id, d.address_id, m.user_id, m.content ->> 'message_key' AS message_key, a.normalized_email
       FROM deliveries d JOIN mailings m ON m.id = d.mailing_id JOIN addresses a ON a.id = d.address_id WHERE d.id = ?`)
      .get(id);

  function findByToken(token: string): Row | undefined {
    const ids = openTokens(client).readRecipient('unsubscribe', token);
    const row = ids === null ? undefined : findRow(ids.delivery);
    // After a restore, the id may belong to another delivery.
    return row?.address_id === ids?.address && row?.mailing_id === ids?.mailing ? row : undefined;
  }

  function findMail({ messageId, returnPath, unsubscribeToken = null }: MailIdentifiers): Row | undefined {
    const { key, kind, id } = parseMessageId(messageId);
    const mailOfId = id === undefined || kind !== '' ? undefined : findRow(Number(id));
    if (mailOfId !== undefined && mailOfId.message_key === key) return mailOfId;
    const findEmail = (deliveryId: number) => findRow(deliveryId)?.normalized_email;
    const returned = returnPath === null ? null : parseReturnPath(keys, { findEmail, unsignedUpTo }, returnPath);
    if (returned !== null) return findRow(returned);
    return unsubscribeToken === null ? undefined : findByToken(unsubscribeToken);
  }

  function findTransactional({ messageId, returnPath }: MailIdentifiers): ReturnedMail | undefined {
    const { key, kind, id } = parseMessageId(messageId);
    const mailOfId = kind === 't' ? findTransactionalMail(client, Number(id)) : undefined;
    if (mailOfId !== undefined && mailOfId.message_key === key) return mailOfId;
    if (returnPath === null) return undefined;
    const findEmail = (mailId: number) => findTransactionalMail(client, mailId)?.normalized_email;
    const returned = parseTransactionalReturnPath(ownKeys, findEmail, returnPath);
    return returned === null ? undefined : findTransactionalMail(client, returned);
  }

  return (names) => {
    const single = findTransactional(names);
    if (single !== undefined) {
      const { id: transactionalId, address_id: addressId, normalized_email: normalizedEmail } = single;
      return { accountId: single.user_id, recipient: { addressId, normalizedEmail, delivery: null, transactionalId } };
    }
    const mail = findMail(names);
    if (mail === undefined) return null;
    const { id, mailing_id: mailingId, address_id: addressId, normalized_email: normalizedEmail } = mail;
    const recipient = { addressId, normalizedEmail, delivery: { id, mailingId }, transactionalId: null };
    return { accountId: mail.user_id, recipient };
  };
}
