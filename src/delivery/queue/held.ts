/** Why a campaign or a mailing is held: a code that programs compare, and the sentence its owner reads. */
import type { Database } from 'better-sqlite3';
import type { HeldCode } from '../../database/schema/index.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import { mailWaitsReason, sendingHeldReason } from './sending-hold.ts';

export interface Held {
  held_code: HeldCode;
  held_reason: Said;
}

/** The values of the two columns when nothing is held. */
export const NOT_HELD = { held_code: null, held_reason: null };

/** The codes whose sentences need no details. */
type PlainHeldCode = 'cancelled' | 'copy' | 'no_audience' | 'sender_deleted' | 'sender_unverified';

/** The code and its sentence. */
export function held(code: PlainHeldCode): Held {
  return { held_code: code, held_reason: sentence(`held_${code}`) };
}

/** Codes for what keeps all mail from leaving: all sending is held, or no sender node takes mail. */
export const COMMON_HELD_CODES = ['sending_held', 'mail_waits'] as const;
type ReportedHeldCode = HeldCode | (typeof COMMON_HELD_CODES)[number];

/** What a report says about what keeps mail from leaving. */
type ReportedHold = { held_code: ReportedHeldCode; held_reason: Said } | typeof NOT_HELD;

/** The first of these rows that is held; if none is and `isUnderWay`, whether all sending is held or mail waits for a sender node. */
export function reportedHold(
  client: Database,
  rows: readonly ({ held_code: HeldCode | null; held_reason: Said | null } | null | undefined)[],
  isUnderWay: boolean,
): ReportedHold {
  for (const row of rows) {
    if (row?.held_code) return { held_code: row.held_code, held_reason: row.held_reason ?? '' };
  }
  if (!isUnderWay) return NOT_HELD;
  const held = sendingHeldReason(client);
  if (held !== null) return { held_code: 'sending_held', held_reason: held };
  const waits = mailWaitsReason(client);
  return waits === null ? NOT_HELD : { held_code: 'mail_waits', held_reason: waits };
}
