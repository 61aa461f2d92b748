/**
 * Links that are the same for every recipient of a mailing, for accounts that record only the totals of opens and clicks. Such a link does
 * not identify the recipient.
 */
import type { LinkTokens, RecipientIds } from './tokens.ts';

/** The number that stands in shared links for the ids of the delivery, the address and the group. */
export const NO_DELIVERY = 0;
const PURPOSE = 'shared';

/** Returns the URL of a mailing's pixel, and its click URL without the link number at its end. */
export function sharedUrls(
  tokens: Pick<LinkTokens, 'sign'>,
  { mailing, user }: Pick<RecipientIds, 'mailing' | 'user'>,
  origin: string,
): { open: string; click: string } {
  const token = tokens.sign(PURPOSE, `${mailing} ${user}`);
  return { open: `${origin}/o/${token}.gif`, click: `${origin}/c/${token}/` };
}

/**
 * Returns the mailing that a shared link belongs to, with `NO_DELIVERY` in place of the recipient's ids; null if the token is not a shared
 * link's.
 */
export function readShared(tokens: Pick<LinkTokens, 'read'>, token: string): RecipientIds | null {
  const [mailing, user] = tokens.read(PURPOSE, token)?.split(' ').map(Number) ?? [];
  if (mailing === undefined || user === undefined) return null;
  return { delivery: NO_DELIVERY, mailing, address: NO_DELIVERY, group: NO_DELIVERY, user, email: '' };
}
