/** The public pages of a sender node: the same as the controller's, at this node's HOST and PORT. */
import type { AddressInfo } from 'node:net';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import Fastify, { type FastifyInstance } from 'fastify';
import { type Config, localOrigin } from '../../config.ts';
import { closeWithin, installConnectionLimits } from '../../http/connections.ts';
import { unknownPage } from '../../http/pages/layout.ts';
import { installBodyLimits } from '../../http/requests/bodies.ts';
import { logOptions, refuseTrace, serverOptions } from '../../http/server-options.ts';
import { installPageRules, recipientPages } from '../../pages/recipient-pages.ts';
import type { Clock } from '../../time/clock.ts';
import type { Links } from '../link-secrets.ts';
import { PublishedHits } from './hits.ts';
import { nodeSource } from './node-source.ts';

interface PublicDeps {
  connection: NatsConnection;
  links: Links;
  config: Config;
  clock: Clock;
}

export interface PublicPages {
  origin: string;
  /** Finishes open requests, publishes the last opens and clicks, and closes the server, each within SHUTDOWN_SECONDS. */
  close(): Promise<void>;
}

/** Serves the public pages. Throws if the server cannot listen on HOST and PORT. */
export async function servePublicPages(deps: PublicDeps): Promise<PublicPages> {
  const { connection, config } = deps;
  const hits = new PublishedHits(jetstream(connection));
  const app = await buildPublicApp(deps, hits);
  const graceMs = config.SHUTDOWN_SECONDS * 1000;
  try {
    await app.listen({ host: config.HOST, port: config.PORT });
  } catch (error) {
    await hits.close(0);
    throw error;
  }
  const { port } = app.server.address() as AddressInfo;
  return {
    origin: localOrigin(config.HOST, port),
    async close() {
      await closeWithin(app, graceMs);
      await hits.close(graceMs);
    },
  };
}

async function buildPublicApp(
  { connection, links, config, clock }: PublicDeps,
  hits: PublishedHits,
): Promise<FastifyInstance> {
  const app = Fastify({ ...serverOptions(config, logOptions(config)) });
  refuseTrace(app);
  installConnectionLimits(app);
  installBodyLimits(app, { clock });
  installPageRules(app);
  const source = nodeSource({ connection, hits, tokens: links.tokens, publicUrl: links.publicUrl });
  await recipientPages(app, source, clock);
  // For load balancers: `/readyz` fails without NATS, because the node then cannot store anything and another node should serve the
  // visitors.
  app.get('/healthz', () => ({ alive: true }));
  let isConnected = true;
  void watchConnection(connection, (connected) => {
    isConnected = connected;
  });
  app.get('/readyz', (_request, reply) => {
    const ready = links.isKnown() && isConnected;
    return reply.code(ready ? 200 : 503).send({ ready });
  });
  app.setNotFoundHandler((_request, reply) => unknownPage(reply));
  return app;
}

async function watchConnection(connection: NatsConnection, changed: (isConnected: boolean) => void): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === 'disconnect' || type === 'reconnect') changed(type === 'reconnect');
  }
  changed(false);
}
