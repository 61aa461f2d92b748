/** Explains the result of a test of an SMTP relay: what was found, and what to do. */
import { type Sentence, type SentenceCode, sentence } from '../../../errors/sentences.ts';
import type { Relay } from '../smtp/relay-urls.ts';
import type { Trial } from './try-relay.ts';

export interface Diagnosis {
  /** The sentence that describes the result. */
  found: Sentence;
  /** What to do; empty if the test passed. */
  advice: Sentence[];
}

/** Error codes of Node and OpenSSL, and their causes. */
const ERRORS: Readonly<Record<string, Cause>> = {
  ENOTFOUND: 'no_host',
  EAI_AGAIN: 'no_host',
  EAI_FAIL: 'no_host',
  ECONNREFUSED: 'closed_port',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ETIMEDOUT: 'unreachable',
  EACCES: 'unreachable',
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'not_yet_valid',
  ERR_TLS_CERT_ALTNAME_INVALID: 'other_name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'unknown_issuer',
  SELF_SIGNED_CERT_IN_CHAIN: 'unknown_issuer',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'unknown_issuer',
  UNABLE_TO_GET_ISSUER_CERT: 'unknown_issuer',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'unknown_issuer',
  ERR_SSL_WRONG_VERSION_NUMBER: 'plain_port',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'plain_port',
};

type CauseOf<Code> = Code extends `relay_test_${infer Cause}_cure` ? Cause : never;
type Cause = CauseOf<SentenceCode>;

/** Explains the result of a test. */
export function diagnose(trial: Trial, relay: Relay): Diagnosis {
  if (trial.stage === 'done') return { found: sentence('relay_test_passed'), advice: [] };
  const cause = causeOf(trial, relay);
  return { found: sentence(`relay_test_${cause}`), advice: [sentence(`relay_test_${cause}_cure`)] };
}

function causeOf({ stage, outcome, error, isSilent }: Trial, { tls, port }: Relay): Cause {
  const known = ERRORS[error];
  if (known !== undefined) return known;
  const code = outcome?.code ?? 0;
  // Port 465 uses TLS from the first byte (RFC 8314 3.3), so a client that waits for a plain-text greeting times out.
  if (stage === 'connect' && code === 0 && tls !== 'implicit' && port === 465) return 'tls_port';
  if (isSilent) return 'silent';
  switch (stage) {
    case 'tls':
      return error === '' ? 'no_starttls' : 'no_tls';
    case 'auth':
      if (code === 0) return error === '' ? 'no_login' : 'closed';
      return code >= 500 ? 'login' : 'busy';
    case 'mail':
      return code === 0 ? 'closed' : 'sender';
    case 'rcpt':
      return code === 0 ? 'closed' : 'recipient';
    default:
      return code === 0 ? 'closed' : 'greeting';
  }
}
