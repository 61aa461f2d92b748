/** The link secrets as the controller publishes them, for a node that creates and reads tokens. */
import { setTimeout } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { createNodeTokens, type LinkTokens } from '../delivery/links/tokens.ts';
import { unavailable } from '../errors/failure.ts';
import { findValue, withTimeout } from './bucket.ts';
import { LINKS_KEY, type LinkSecrets } from './feedback-messages.ts';
import { BUCKET } from './streams.ts';

const RETRY_MS = 200;
/** How long to wait for a reply. NATS does not reply to a request for a bucket that does not exist yet. */
const ANSWER_MS = 1000;
/** How often known secrets are read again. They and the public URL rarely change. */
const REFRESH_MS = 2000;

/** The links of recipients, as a node knows them. */
export interface Links {
  /** Throws 503 while the secrets are not available. */
  tokens(): LinkTokens;
  /** The origin of links; empty while it is unknown. */
  publicUrl(): string;
  isKnown(): boolean;
}

/** Follows the secrets until the signal is aborted. */
export function followLinks(connection: NatsConnection, signal: AbortSignal): Links {
  let tokens: LinkTokens | null = null;
  let publicUrl = '';
  let lastText = '';
  const take = ({ secrets, publicUrl: url }: LinkSecrets) => {
    tokens = createNodeTokens(secrets);
    publicUrl = url;
  };
  void (async () => {
    while (!signal.aborted) {
      try {
        const value = await withTimeout(findValue(connection, BUCKET.secrets, LINKS_KEY), ANSWER_MS);
        const text = new TextDecoder().decode(value ?? undefined);
        if (text !== '' && text !== lastText) take(JSON.parse(text));
        lastText = text;
      } catch {
        // NATS does not reply, or the bucket does not exist yet.
      }
      await setTimeout(tokens === null ? RETRY_MS : REFRESH_MS, null, { signal }).catch(() => undefined);
    }
  })();
  return {
    tokens() {
      if (tokens === null) throw unavailable();
      return tokens;
    },
    publicUrl: () => publicUrl,
    isKnown: () => tokens !== null,
  };
}
