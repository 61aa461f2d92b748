/** Badges for the states of single sends, automations and single mails. */
import type { SHOWN_STATES } from '../../campaigns/status.ts';
import type { ShownDeliveryState } from '../../delivery/reporting/mailing-report.ts';
import { useLanguage } from '../words/index.ts';
import { Badge, type Tone } from './surface.tsx';

/** The state of a single send or automation, by its name in the API. */
export type CampaignState = (typeof SHOWN_STATES)[number] | 'live';

const TONES: Readonly<Record<CampaignState, Tone>> = {
  draft: 'plain',
  scheduled: 'plain',
  preparing: 'busy',
  sending: 'busy',
  paused: 'warn',
  held: 'warn',
  cancelling: 'plain',
  cancelled: 'plain',
  done: 'good',
  kept: 'plain',
  live: 'good',
};

/** The badge of a single send or automation, in the user's language. */
export function StateBadge({ state }: { state: CampaignState }) {
  return <Badge tone={TONES[state]}>{useLanguage().say(`state.${state}`)}</Badge>;
}

const DELIVERY_TONES: Readonly<Record<ShownDeliveryState, Tone>> = {
  queued: 'plain',
  sending: 'busy',
  accepted: 'good',
  kept: 'plain',
  bounced: 'bad',
  failed: 'bad',
  suppressed: 'warn',
  cancelled: 'plain',
};

/** The badge of one mail, in the user's language. */
export function DeliveryBadge({ state }: { state: ShownDeliveryState }) {
  return <Badge tone={DELIVERY_TONES[state]}>{useLanguage().say(`delivery.${state}`)}</Badge>;
}
