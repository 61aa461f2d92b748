/** Why a campaign or a mailing is held: a code that programs compare, and the sentence its owner reads. */
import type { Database } from 'better-sqlite3';
import type { HeldCode } from '../../database/schema/index.ts';
import { sentence } from '../../sentences.ts';
import { sendingHeldReason } from './sending-hold.ts';

export interface Held {
  held_code: HeldCode;
  held_reason: string;
}

/** The values of the two columns when nothing is held. */
export const NOT_HELD = { held_code: null, held_reason: null };

/** The codes whose sentences need no details. */
type PlainHeldCode = 'cancelled' | 'copy' | 'no_audience' | 'sender_deleted' | 'sender_unverified';

/** The code and its sentence. */
export function held(code: PlainHeldCode): Held {
  return { held_code: code, held_reason: sentence(`held_${code}`) };
}

/** What a report says about a hold: `sending_held` stands for a hold of all sending. */
export type ReportedHold = { held_code: HeldCode | 'sending_held'; held_reason: string } | typeof NOT_HELD;

/** The first of these rows that is held; if none is and `isUnderWay`, whether all sending is held. */
export function reportedHold(
  client: Database,
  rows: readonly ({ held_code: HeldCode | null; held_reason: string | null } | null | undefined)[],
  isUnderWay: boolean,
): ReportedHold {
  for (const row of rows) {
    if (row?.held_code) return { held_code: row.held_code, held_reason: row.held_reason ?? '' };
  }
  const held_reason = isUnderWay ? sendingHeldReason(client) : null;
  return held_reason === null ? NOT_HELD : { held_code: 'sending_held', held_reason };
}
