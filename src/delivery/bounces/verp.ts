/** Return paths that name the delivery they belong to, signed, so that only mail about our own mail counts (trust 17). */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Leaves room for `+`, an id of 11 characters, `.` and 16 of signature in a local part of 64 (RFC 5321 §4.5.3.1.1). */
const MOST_BASE = 35;
/** 80 bits are 16 characters of base32 to the bit: no spare bits, so one delivery has one spelling. */
const MAC_BYTES = 10;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const RETURN_PATH = /^[a-z0-9._-]{1,35}\+([1-9a-z][0-9a-z]{0,10})\.([a-z2-7]{16})@[^@<>\s]{1,255}$/;

/**
 * The envelope sender of a delivery: `bounce+<id>.<mac>@domain`, in lower case because relays may fold local parts. Throws a
 * RangeError for an id that is none and for a base that is not a lower-case word of at most 35 characters.
 */
export function returnPath(secret: string, deliveryId: number, domain: string, localBase = 'bounce'): string {
  if (!Number.isSafeInteger(deliveryId) || deliveryId < 1) throw new RangeError('a delivery id is a positive integer');
  if (localBase.length > MOST_BASE || !/^[a-z0-9]+([._-][a-z0-9]+)*$/.test(localBase)) {
    throw new RangeError(`the base of a return path is a lower-case word of at most ${MOST_BASE} characters`);
  }
  const id = deliveryId.toString(36);
  return `${localBase}+${id}.${base32(mac(secret, id))}@${domain}`;
}

/**
 * The delivery a return path was made for, or null when it is none of ours: another form, or signed with none of the secrets.
 * Base and domain may have changed since, so they do not count; neither does upper or lower case.
 */
export function readReturnPath(secrets: readonly string[], address: string): number | null {
  const [, id = '', signature = ''] = RETURN_PATH.exec(address.slice(0, 400).toLowerCase()) ?? [];
  const deliveryId = Number.parseInt(id, 36);
  if (!Number.isSafeInteger(deliveryId)) return null;
  const given = Buffer.from(signature);
  const isOurs = secrets.some((secret) => timingSafeEqual(given, Buffer.from(base32(mac(secret, id)))));
  return isOurs ? deliveryId : null;
}

function mac(secret: string, id: string): Buffer {
  return createHmac('sha256', secret).update(`return-path:${id}`).digest().subarray(0, MAC_BYTES);
}

/** RFC 4648 §6, lower case; `bytes` a multiple of five. */
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
