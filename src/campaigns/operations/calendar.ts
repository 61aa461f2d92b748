/** The operation for the calendar of campaigns. */
import Type from 'typebox';
import { SINGLE_SEND_STATUS } from '../../database/schema/index.ts';
import { integer } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { SHOWN_STATE, type SHOWN_STATES } from '../status.ts';

/** The maximum number of campaigns of a month that are shown. */
const MAX_CAMPAIGNS = 500;

/** A campaign in the calendar. */
export interface PlannedCampaign {
  utr: string;
  name: string;
  state: (typeof SHOWN_STATES)[number];
  /** When the campaign starts or started, in epoch milliseconds. */
  starts_at: number;
}

/** SQL: the campaigns that are scheduled, being sent or sent in a time, by the index of those times. */
export const PLANNED = `
  SELECT s.utr, s.single_send_name AS name, ${SHOWN_STATE} AS state, s.starts_at
  FROM single_sends s INDEXED BY single_sends_calendar LEFT JOIN mailings m ON m.owner_kind = 'single' AND m.owner_id = s.id
  WHERE s.user_id = @account AND s.status > ${SINGLE_SEND_STATUS.draft} AND s.starts_at >= @from AND s.starts_at < @until
    AND s.hidden_at IS NULL
  ORDER BY s.starts_at LIMIT ${MAX_CAMPAIGNS}`;

/** For the calendar: campaigns with a time. Drafts have none, and archived ones are on no list. */
export const listPlanned = operation({
  name: 'List the single sends that start in a time, the first ones first',
  role: 'viewer',
  input: Type.Object({
    from: integer({ description: 'Epoch milliseconds.' }),
    until: integer({ description: 'Epoch milliseconds; what starts then is not listed.' }),
  }),
  run: ({ db, accountId }, { from, until }) =>
    db.$client.prepare<Record<string, number>, PlannedCampaign>(PLANNED).all({ account: accountId, from, until }),
});
