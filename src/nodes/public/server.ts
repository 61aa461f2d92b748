/** The public pages of a sender node: the same as the controller's, at this node's HOST and PORT. */
import type { AddressInfo } from 'node:net';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Config } from '../../config.ts';
import { unavailable } from '../../errors/failure.ts';
import { closeWithin, limitConnections } from '../../http/connections.ts';
import { localOrigin } from '../../http/local-origin.ts';
import { unknownPage } from '../../http/pages/layout.ts';
import { limitBodies } from '../../http/requests/bodies.ts';
import { logOptions, refuseRequests, serverOptions } from '../../http/server-options.ts';
import { installPageRules, recipientPages } from '../../pages/recipient-pages.ts';
import type { RecipientSource } from '../../pages/recipient-source.ts';
import type { Clock } from '../../time/clock.ts';
import type { Links } from '../link-secrets.ts';
import type { NodeMetrics } from '../node/node-metrics.ts';
import { HitPublisher } from './hits.ts';
import { nodeSource } from './node-source.ts';

interface PublicDeps {
  config: Config;
  clock: Clock;
  metrics: NodeMetrics;
}

/** What the pages are made from once the node is connected to NATS. */
interface Connected {
  connection: NatsConnection;
  links: Links;
}

/** The running server of public pages. */
export interface PublicPages {
  origin: string;
  /** Answers requests for pages from now on. Before this call, every page is answered 503. */
  use(connected: Connected): void;
  /** Finishes open requests, publishes the last opens and clicks, and closes the server, each within SHUTDOWN_SECONDS. */
  close(): Promise<void>;
}

/** Serves the public pages. Throws if the server cannot listen on HOST and PORT. */
export async function servePublicPages(deps: PublicDeps): Promise<PublicPages> {
  const { config, metrics } = deps;
  let source: RecipientSource | null = null;
  let hits: HitPublisher | null = null;
  let isReady = () => false;
  const app = await buildPublicApp(deps, { source: () => source, isReady: () => isReady() });
  const graceMs = config.SHUTDOWN_SECONDS * 1000;
  await app.listen({ host: config.HOST, port: config.PORT });
  const { port } = app.server.address() as AddressInfo;
  return {
    origin: localOrigin(config.HOST, port),
    use({ connection, links }) {
      hits = new HitPublisher(jetstream(connection));
      source = nodeSource({ connection, hits, tokens: links.tokens, publicUrl: links.publicUrl });
      let isConnected = true;
      void watchConnection(connection, (connected) => {
        isConnected = connected;
      });
      metrics.followConnection(() => isConnected);
      isReady = () => links.isKnown() && isConnected;
    },
    async close() {
      await closeWithin(app, graceMs);
      await hits?.close(graceMs);
    },
  };
}

/** What changes when the node connects to NATS. */
interface Current {
  /** Null before the first connection to NATS. */
  source(): RecipientSource | null;
  isReady(): boolean;
}

async function buildPublicApp({ config, clock, metrics }: PublicDeps, current: Current): Promise<FastifyInstance> {
  const app = Fastify({ ...serverOptions(config), logger: logOptions(config) });
  refuseRequests(app);
  limitConnections(app)(app);
  limitBodies(app, { clock })(app);
  installPageRules(app);
  await recipientPages(app, sourceOnceConnected(current.source), clock);
  // For load balancers: `/readyz` fails without NATS, because the node then cannot store anything and another node should serve the
  // visitors.
  app.get('/healthz', () => ({ alive: true }));
  app.get('/readyz', (_request, reply) => {
    const ready = current.isReady();
    return reply.code(ready ? 200 : 503).send({ ready });
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  app.setNotFoundHandler((_request, reply) => unknownPage(reply));
  return app;
}

/**
 * Returns a source that passes calls on to the source that `find` returns. While that is null, its methods throw 503, and opens and clicks are
 * lost, because no link can be read.
 */
function sourceOnceConnected(find: () => RecipientSource | null): RecipientSource {
  const source = () => {
    const found = find();
    if (found === null) throw unavailable();
    return found;
  };
  return {
    publicUrl: () => source().publicUrl(),
    readLink: (...parameters) => source().readLink(...parameters),
    readShared: (token) => source().readShared(token),
    readPreferences: (...parameters) => source().readPreferences(...parameters),
    keepChoice: (...parameters) => source().keepChoice(...parameters),
    readMail: (...parameters) => source().readMail(...parameters),
    findLink: (...parameters) => source().findLink(...parameters),
    readValues: (...parameters) => source().readValues(...parameters),
    addHit: (...parameters) => find()?.addHit(...parameters),
    findPicture: (publicId) => source().findPicture(publicId),
  };
}

async function watchConnection(connection: NatsConnection, changed: (isConnected: boolean) => void): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === 'disconnect' || type === 'reconnect') changed(type === 'reconnect');
  }
  changed(false);
}
