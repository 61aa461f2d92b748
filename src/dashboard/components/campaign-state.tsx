/** The state of a single send as a badge, for every screen that shows one. */
import type { SHOWN_STATES } from '../../single-sends/shown-state.ts';
import { useLanguage } from '../words/index.ts';
import { Badge, type Tone } from './surface.tsx';

/** What a single send or automation is doing, as the API says it in one word. */
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
  live: 'good',
};

/** The state in the reader's language. */
export function StateBadge({ state }: { state: CampaignState }) {
  return <Badge tone={TONES[state]}>{useLanguage().say(`state.${state}`)}</Badge>;
}
