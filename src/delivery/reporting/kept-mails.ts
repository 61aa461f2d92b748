/** Mails that the built-in outbox took: the ledger calls them accepted, but they never left this machine. */
import { DELIVERY_STATE, DELIVERY_STATE_NAMES, type DeliveryState } from '../../database/schema/index.ts';
import type { Said } from '../../errors/sentences.ts';
import { codeOf, storedSql } from '../../errors/stored.ts';

/** The state of a delivery as it is shown. */
export type ShownDeliveryState = DeliveryState | 'kept';

/** Every state that is shown, as the ledger has them, and `kept` after `accepted`. */
export const SHOWN_DELIVERY_STATES: readonly ShownDeliveryState[] = DELIVERY_STATE_NAMES.flatMap((name) =>
  name === 'accepted' ? (['accepted', 'kept'] as const) : [name],
);

/** The state of a delivery with this reply as it is shown. */
export function shownDeliveryState(state: DeliveryState, reply: Said | null): ShownDeliveryState {
  return state === 'accepted' && codeOf(reply) === 'kept_in_outbox' ? 'kept' : state;
}

/** How many mails of a mailing (its alias) the outbox took, as SQL. */
export function keptMails(mailing: string): string {
  return `ifnull((SELECT count FROM delivery_reasons WHERE mailing_id = ${mailing}.id AND state = ${DELIVERY_STATE.accepted}
    AND reason = ${storedSql('kept_in_outbox')}), 0)`;
}
