/** What the API says about single sends. */
import type { ApiClient } from '../../api-client.ts';
import type { CampaignState } from '../../components/campaign-state.tsx';

/** The states of a single send, in the order of its life. */
export const STATES = [
  'draft',
  'scheduled',
  'preparing',
  'sending',
  'paused',
  'held',
  'cancelling',
  'cancelled',
  'done',
] as const satisfies readonly CampaignState[];

/** What happened to the mail for one person; all but the first two are final. */
export const DELIVERY_STATES = [
  'queued',
  'sending',
  'accepted',
  'bounced',
  'failed',
  'suppressed',
  'cancelled',
] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** A single send in the list, with its counters. */
export interface Summary {
  id: number;
  utr: string;
  single_send_name: string;
  subject: string;
  state: (typeof STATES)[number];
  held_reason: string | null;
  starts_at: string;
  recipients: number;
  /** Those with a final state. */
  finished: number;
  delivered: number;
  unique_opens: number;
  unique_clicks: number;
  bounces: number;
  unsubscribes: number;
}

/** What happened in one hour; hours in which nothing did are missing. */
export interface Hour {
  hour: string;
  opens: number;
  machine_opens: number;
  clicks: number;
  machine_clicks: number;
}

export interface Report {
  held_code: string | null;
  tracking: 0 | 1;
  reasons: { state: DeliveryState; reason: string; count: number }[];
  machine_opens: number;
  machine_clicks: number;
  funnel: {
    recipients: number;
    delivered: number;
    unique_opens: number;
    people_opens: number;
    unique_clicks: number;
    people_clicks: number;
    bounces: number;
    failed: number;
    suppressed: number;
    cancelled: number;
    unsubscribes: number;
  };
  hours: Hour[];
  links: { number: number; url: string; clicks: number; machine_clicks: number }[];
}

/** The single send with this utr; throws an ApiFailure where the account has none. */
export async function readSummary(api: ApiClient, utr: string): Promise<Summary> {
  const { singleSend } = await api.get<{ singleSend: { id: number }[] }>('/single-send/details', { utr });
  const id = singleSend[0]?.id ?? 0;
  // The list goes downward from an id, so the one right below the next id is this one.
  const query = { before_id: String(id + 1), limit: '1' };
  const { summaries } = await api.get<{ summaries: Summary[] }>('/single-send/summaries', query);
  const summary = summaries.find((found) => found.id === id);
  if (summary === undefined) throw new Error('a single send is not in the list');
  return summary;
}
