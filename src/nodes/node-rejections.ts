/** Distinguishes rejections of a whole node by its SMTP relays from rejections of a single mail. */
import type { Outcome } from '../delivery/transport/courier.ts';

/** Phrases with which SMTP relays reject the connecting address, whatever the mail. */
const ADDRESS_REJECTED =
  /client host|(?:sending|your|client|source) (?:ip|host|server|network)|dnsbl|block ?list|black ?list|(?:listed|found) (?:in|on|by)/i;

/**
 * Returns true if an outcome shows that a relay accepts no mail from the node: the node could not connect or log in, or its address is
 * rejected.
 */
export function rejectsNode({ kind, stage, reply }: Outcome): boolean {
  if (kind === 'accepted') return false;
  if (stage === 'connect' || stage === 'tls' || stage === 'auth') return true;
  return (stage === 'mail' || stage === 'rcpt') && ADDRESS_REJECTED.test(String(reply));
}
