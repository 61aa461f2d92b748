/** Divides the audience of an A/B test: assigns variants to the test group and lets the rest wait for the decision. */
import { hash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { DELIVERY_STATE } from '../../database/schema/index.ts';
import { DUE } from './due.ts';

/** SQL: the number of the variant that delivery `d` gets, which is its own or the winner; null before the decision, and without a test. */
export const VARIANT_OF = 'ifnull(d.variant, (SELECT winner FROM ab_tests WHERE ab_tests.mailing_id = d.mailing_id))';

/** Tells how the audience of a mailing is divided. */
interface Division {
  /** The size of the test group in percent of the audience. */
  share: number;
  /** The number of variants. */
  variants: number;
  /** A random key that is different for each mailing, so that contacts are not in the same group every time. */
  key: string;
}

/**
 * Returns the number of the variant that a recipient in the test group gets; null for a recipient outside the test group. The number
 * depends only on the recipient and the mailing, not on the order of enqueueing, and is as good as random.
 */
function variantFor(addressId: number, { share, variants, key }: Division): number | null {
  const part = fractionFor(addressId, key) / (share / 100);
  return part < 1 ? Math.floor(part * variants) : null;
}

/**
 * Divides the recipients enqueued after the delivery with the id `after`, if the mailing has an A/B test: the test group gets its variants,
 * and the other recipients wait. Call it in the transaction that enqueues them.
 */
export function divideRecipients(client: Database, mailingId: number, after: number): void {
  const division = client
    .prepare<[number], Division>(`
      SELECT share, json_array_length(variants) AS variants, (SELECT content ->> 'message_key' FROM mailings WHERE id = mailing_id) AS key
      FROM ab_tests WHERE mailing_id = ?`)
    .get(mailingId);
  if (division === undefined) return;
  const added = client
    .prepare<[number, number], { id: number; address_id: number }>(
      `SELECT id, address_id FROM deliveries WHERE id > ? AND mailing_id = ? AND state = ${DELIVERY_STATE.queued}`,
    )
    .all(after, mailingId);
  const groups = added.map(({ id, address_id }) => [id, variantFor(address_id, division)]);
  client
    .prepare(`UPDATE deliveries SET variant = g.value ->> 1, due_at = iif(g.value ->> 1 IS NULL, ${DUE.awaitsDecision}, due_at)
      FROM json_each(?) g WHERE deliveries.id = g.value ->> 0`)
    .run(JSON.stringify(groups));
  client
    .prepare('UPDATE ab_tests SET rest = rest + ? WHERE mailing_id = ?')
    .run(groups.filter(([, variant]) => variant === null).length, mailingId);
}

/** The number of hexadecimal digits of a hash that make a fraction. They fit exactly into a number. */
const FRACTION_DIGITS = 12;

/** Returns the place of a recipient in a random order of all recipients, which depends only on the key: from 0 to below 1. */
export function fractionFor(addressId: number, key: string): number {
  const digits = hash('sha256', `${key}.${addressId}`, 'hex').slice(0, FRACTION_DIGITS);
  return Number.parseInt(digits, 16) / 16 ** FRACTION_DIGITS;
}

/** Returns the letter of a variant: A for 0. */
export function variantName(variant: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + variant);
}

/** Returns true if the name of a variant or version is that of a variant. A version has the code of its language as its name. */
export function isVariantName(name: string): boolean {
  return /^[A-Z]$/.test(name);
}
