/** The records of the API that the pages of relays show. */

export interface Relay {
  id: number;
  name: string;
  host: string;
  port: number;
  security: 'implicit' | 'starttls' | 'none';
  username: string;
  has_password: 0 | 1;
  rate: number;
  connections: number;
  accepted_at: string | null;
  answered_at: string | null;
  failed_at: string | null;
  failure: string | null;
  sender_ids: readonly number[];
}

export interface Ways {
  environment: readonly string[];
  has_public_url: 0 | 1;
  queued: number;
}

export interface Sending {
  relays: readonly Relay[];
  ways: Ways;
}

/** Where links in mails lead, and what was seen of it. */
export interface PublicAddress {
  url: string;
  source: 'environment' | 'file' | 'none';
  seen: { at: string; state: 'ok' | 'warn' | 'fail'; found: string; advice: readonly string[] } | null;
}

export interface RelayTest {
  stage: 'connect' | 'tls' | 'auth' | 'mail' | 'rcpt' | 'done';
  from: string;
  to: string;
  found: string;
  advice: readonly string[];
  reply: string | null;
}

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
