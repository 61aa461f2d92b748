/**
 * Return paths (envelope senders) that identify their delivery and are signed, so that a forged bounce has no effect. The signature covers
 * the recipient's address: after a restore an id may be assigned again, and one recipient's bounce must not count for another.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The maximum length of a return path's base. It leaves room for `+`, an id of 11 characters, `.` and a signature of 16 characters in a
 * local part of 64 characters (RFC 5321 §4.5.3.1.1).
 */
const MAX_BASE_LENGTH = 35;
/**
 * The length of a signature in bytes: 80 bits are exactly 16 characters of base32. With unused bits, several spellings would stand for the
 * same signature.
 */
const MAC_BYTES = 10;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const RETURN_PATH = /^[a-z0-9._-]{1,35}\+(0?)([1-9a-z][0-9a-z]{0,10})\.([a-z2-7]{16})@[^@<>\s]{1,255}$/;
/** The maximum number of characters of an address that are examined. No return path is longer. */
const MAX_EXAMINED = 400;
/** The prefix of the ids of transactional mails, which are numbered separately from deliveries. An id in base 36 never begins with it. */
const TRANSACTIONAL = '0';

/** The mail that a return path identifies. */
export interface ReturnPathDelivery {
  /** The id of the delivery, or of the transactional mail. */
  id: number;
  /** The recipient's normalized address. */
  email: string;
  /** True for a transactional mail. */
  isTransactional?: boolean;
}

/** The database lookups that verifying a return path needs. */
export interface DeliveryLookup {
  /** Returns the normalized address of a delivery's recipient; undefined if the delivery does not exist. */
  findEmail(deliveryId: number): string | undefined;
  /** The largest delivery id whose return path is accepted without a signed address, because earlier releases did not sign it. */
  unsignedUpTo: number;
}

/**
 * Returns the envelope sender of a delivery: `bounce+<id>.<signature>@domain`, in lower case because SMTP relays may lower-case local
 * parts. Throws a RangeError if the id is invalid, or if the base is not a lower-case word of at most 35 characters.
 */
export function returnPath(secret: string, delivery: ReturnPathDelivery, domain: string, localBase = 'bounce'): string {
  if (!Number.isSafeInteger(delivery.id) || delivery.id < 1)
    throw new RangeError('a delivery id is a positive integer');
  if (localBase.length > MAX_BASE_LENGTH || !/^[a-z0-9]+([._-][a-z0-9]+)*$/.test(localBase)) {
    throw new RangeError(`the base of a return path is a lower-case word of at most ${MAX_BASE_LENGTH} characters`);
  }
  const id = `${delivery.isTransactional ? TRANSACTIONAL : ''}${delivery.id.toString(36)}`;
  return `${localBase}+${id}.${base32(sign(secret, signedText(id, delivery.email)))}@${domain}`;
}

/**
 * Returns the id of the delivery that a return path identifies; null if we did not create the return path, because it has another format,
 * is not signed with any of the secrets, or identifies another recipient's delivery. Base and domain are ignored, because the settings may
 * have changed since. Letter case is ignored, too.
 */
export function parseReturnPath(
  secrets: readonly string[],
  { findEmail, unsignedUpTo }: DeliveryLookup,
  address: string,
): number | null {
  const [, kind, id = '', signature = ''] = RETURN_PATH.exec(address.slice(0, MAX_EXAMINED).toLowerCase()) ?? [];
  const deliveryId = Number.parseInt(id, 36);
  if (kind === TRANSACTIONAL || !Number.isSafeInteger(deliveryId)) return null;
  const email = findEmail(deliveryId);
  if (email === undefined) return null;
  const isOurs = isSigned(secrets, signedText(id, email), signature);
  return isOurs || (deliveryId <= unsignedUpTo && isSigned(secrets, id, signature)) ? deliveryId : null;
}

/** Returns the id of the transactional mail that a return path identifies, as `parseReturnPath` does for a delivery. */
export function parseTransactionalReturnPath(
  secrets: readonly string[],
  findEmail: (mailId: number) => string | undefined,
  address: string,
): number | null {
  const [, kind, id = '', signature = ''] = RETURN_PATH.exec(address.slice(0, MAX_EXAMINED).toLowerCase()) ?? [];
  const mailId = Number.parseInt(id, 36);
  if (kind !== TRANSACTIONAL || !Number.isSafeInteger(mailId)) return null;
  const email = findEmail(mailId);
  return email !== undefined && isSigned(secrets, signedText(kind + id, email), signature) ? mailId : null;
}

function isSigned(secrets: readonly string[], signed: string, signature: string): boolean {
  const received = Buffer.from(signature);
  return secrets.some((secret) => timingSafeEqual(received, Buffer.from(base32(sign(secret, signed)))));
}

/** Returns the signed text: id and address separated by a space, which neither contains. */
function signedText(id: string, email: string): string {
  return `${id} ${email}`;
}

function sign(secret: string, signed: string): Buffer {
  return createHmac('sha256', secret).update(`return-path:${signed}`).digest().subarray(0, MAC_BYTES);
}

/** Encodes bytes in base32 (RFC 4648 §6) in lower case. Their number must be a multiple of five. */
function base32(bytes: Buffer): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 5) {
    let value = bytes.readUIntBE(at, 5);
    let group = '';
    for (let digit = 0; digit < 8; digit++) {
      group = BASE32.charAt(value % 32) + group;
      value = Math.floor(value / 32);
    }
    text += group;
  }
  return text;
}
