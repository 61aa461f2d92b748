/** The last known state of an SMTP relay. */
import type { Relay } from '../operations/relays.ts';

/**
 * Returns the last known state of a relay, and when it showed this state last; null if it was never tried. A relay that accepted a mail or
 * passed a test after a failure works again.
 */
export function relayState({ accepted_at, answered_at, failed_at }: Relay): {
  state: 'untried' | 'answers' | 'works' | 'fails';
  at: string | null;
} {
  const [accepted, answered, failed] = [accepted_at ?? '', answered_at ?? '', failed_at ?? ''];
  if (accepted + answered + failed === '') return { state: 'untried', at: null };
  if (failed > accepted && failed > answered) return { state: 'fails', at: failed };
  // An accepted mail proves more than a passed test.
  return accepted > failed ? { state: 'works', at: accepted } : { state: 'answers', at: answered };
}
