/** What was seen of a relay. */
import type { Relay } from '../operations/relays.ts';

/** What was seen last of a relay. One that took a mail or passed a test after a failure works again. */
export function relayState({ accepted_at, answered_at, failed_at }: Relay): {
  state: 'untried' | 'answers' | 'works' | 'fails';
  at: string | null;
} {
  const [accepted, answered, failed] = [accepted_at ?? '', answered_at ?? '', failed_at ?? ''];
  if (accepted + answered + failed === '') return { state: 'untried', at: null };
  if (failed > accepted && failed > answered) return { state: 'fails', at: failed };
  // That it took a mail says more than that it would.
  return accepted > failed ? { state: 'works', at: accepted } : { state: 'answers', at: answered };
}
