/** The operation for the calendar of campaigns. */
import Type from 'typebox';
import { SINGLE_SEND_STATUS } from '../../database/schema/index.ts';
import { integer } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { SHOWN_STATE, type SHOWN_STATES } from '../status.ts';

/** The maximum number of campaigns that are listed. */
const MAX_CAMPAIGNS = 500;

/** A campaign in the calendar. */
export interface PlannedCampaign {
  utr: string;
  name: string;
  state: (typeof SHOWN_STATES)[number];
  /** When the campaign starts or started, in epoch milliseconds. */
  starts_at: number;
}

/** SQL: the campaigns of @account that start from @from on and before @until, except drafts and hidden ones, by the index of these times. */
export const PLANNED = `
  SELECT s.utr, s.single_send_name AS name, ${SHOWN_STATE} AS state, s.starts_at
  FROM single_sends s INDEXED BY single_sends_calendar LEFT JOIN mailings m ON m.owner_kind = 'single' AND m.owner_id = s.id
  WHERE s.user_id = @account AND s.status > ${SINGLE_SEND_STATUS.draft} AND s.starts_at >= @from AND s.starts_at < @until
    AND s.hidden_at IS NULL
  ORDER BY s.starts_at LIMIT ${MAX_CAMPAIGNS}`;

/** Used by the calendar. Leaves out drafts, which have no time, and hidden campaigns. */
export const listPlanned = operation({
  name: 'List the single sends that start in a period, in the order of their start',
  role: 'viewer',
  input: Type.Object({
    from: integer({ description: 'The beginning of the period in epoch milliseconds.' }),
    until: integer({ description: 'The end of the period in epoch milliseconds, which does not belong to it.' }),
  }),
  run: ({ db, accountId }, { from, until }) =>
    db.$client.prepare<Record<string, number>, PlannedCampaign>(PLANNED).all({ account: accountId, from, until }),
});
