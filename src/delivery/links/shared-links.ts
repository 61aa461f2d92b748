/**
 * Links that are the same for every recipient of a mailing, for accounts that learn only how many opens and clicks there were. Whoever
 * uses one cannot be told from the others.
 */
import type { LinkTokens, RecipientIds } from './tokens.ts';

/** Stands where recipients' links have the number of a delivery. */
export const NOBODY = 0;
const PURPOSE = 'shared';

/** The URL of the pixel of a mailing, and that of a click up to the number of the link. */
export function sharedUrls(
  tokens: Pick<LinkTokens, 'sign'>,
  { mailing, user }: Pick<RecipientIds, 'mailing' | 'user'>,
  origin: string,
): { open: string; click: string } {
  const token = tokens.sign(PURPOSE, `${mailing} ${user}`);
  return { open: `${origin}/o/${token}.gif`, click: `${origin}/c/${token}/` };
}

/** The mailing of such a link, with nobody as its recipient; null when the token is not one of these. */
export function readShared(tokens: Pick<LinkTokens, 'read'>, token: string): RecipientIds | null {
  const [mailing, user] = tokens.read(PURPOSE, token)?.split(' ').map(Number) ?? [];
  if (mailing === undefined || user === undefined) return null;
  return { delivery: NOBODY, mailing, address: NOBODY, group: NOBODY, user, email: '' };
}
