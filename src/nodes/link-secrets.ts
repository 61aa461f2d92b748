/** The secrets of links as the brain publishes them, for a node that makes and reads tokens. */
import { setTimeout } from 'node:timers/promises';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { createTokens, type Tokens } from '../delivery/links/tokens.ts';
import { unavailable } from '../failure.ts';
import { LINKS_KEY, type LinkSecrets } from './feedback-messages.ts';
import { BUCKET } from './streams.ts';

const RETRY_MS = 1000;
/** Tokens of releases that did not sign the address are checked by the brain alone. */
const NONE_UNSIGNED = { deliveries: 0, mailings: 0, addresses: 0 };

export interface Links {
  /** Throws 503 while no secrets have come. */
  tokens(): Tokens;
  /** Origin of links; empty while it is not known. */
  publicUrl(): string;
  isKnown(): boolean;
}

/** Follows the secrets until the signal is aborted. */
export function followLinks(connection: NatsConnection, signal: AbortSignal): Links {
  let tokens: Tokens | null = null;
  let publicUrl = '';
  const take = ({ secrets, publicUrl: url }: LinkSecrets) => {
    tokens = createTokens(secrets, { findEmail: () => undefined, unsigned: NONE_UNSIGNED, sealsAddress: true });
    publicUrl = url;
  };
  void (async () => {
    while (!signal.aborted) {
      try {
        const bucket = await new Kvm(connection).open(BUCKET.secrets);
        const changes = await bucket.watch({ key: LINKS_KEY });
        signal.addEventListener('abort', () => changes.stop(), { once: true });
        for await (const entry of changes) if (entry.operation === 'PUT') take(entry.json<LinkSecrets>());
      } catch {
        // The bucket is made when the brain first connects.
      }
      await setTimeout(RETRY_MS, null, { signal }).catch(() => undefined);
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
