/** Tells refusals of a node by its relays from refusals of a mail. */
import type { Outcome } from '../delivery/transport/courier.ts';

/** Words by which relays refuse the address that connects, whatever the mail. */
const NAMES_ADDRESS =
  /client host|(?:sending|your|client|source) (?:ip|host|server|network)|dnsbl|block ?list|black ?list|(?:listed|found) (?:in|on|by)/i;

/** Whether an outcome says that relays take no mail from this node: it could not connect or sign in, or its address is refused. */
export function isAboutNode({ kind, stage, reply }: Outcome): boolean {
  if (kind === 'accepted') return false;
  if (stage === 'connect' || stage === 'tls' || stage === 'auth') return true;
  return (stage === 'mail' || stage === 'rcpt') && NAMES_ADDRESS.test(String(reply));
}
