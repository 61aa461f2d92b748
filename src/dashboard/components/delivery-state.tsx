/** The state of one mail, as a badge. */
import type { DeliveryState } from '../../database/schema/index.ts';
import { useLanguage } from '../words/index.ts';
import { Badge, type Tone } from './surface.tsx';

const TONES: Readonly<Record<DeliveryState, Tone>> = {
  queued: 'plain',
  sending: 'busy',
  accepted: 'good',
  bounced: 'bad',
  failed: 'bad',
  suppressed: 'warn',
  cancelled: 'plain',
};

export function DeliveryBadge({ state }: { state: DeliveryState }) {
  return <Badge tone={TONES[state]}>{useLanguage().say(`delivery.${state}`)}</Badge>;
}
