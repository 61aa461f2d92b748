/**
 * The URLs at which mail providers report bounces, complaints and unsubscribes: `POST /hooks/in/<provider>/<token>`. The answer is 200
 * once the effect of the report is on disk.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MAIL_PROVIDERS, type MailProvider } from '../database/schema/index.ts';
import { eventWithoutEffect, readSes, readSns, SnsCertificates } from '../delivery/feedback/providers/amazon.ts';
import { applyEvents, readAll } from '../delivery/feedback/providers/apply-events.ts';
import { EVENT_BYTES, PROVIDERS } from '../delivery/feedback/providers/index.ts';
import { findIntake, type Intake, keepTopic, openIntakeSecret } from '../delivery/feedback/providers/intakes.ts';
import { type ProviderEvent, type ReceivedRequest, Refusal } from '../delivery/feedback/providers/provider-event.ts';
import { intakeCaller, RefusedRequests } from '../delivery/feedback/providers/refused-requests.ts';
import { Failure } from '../errors/failure.ts';
import { failedBody, frameworkText, noteFailure } from '../http/errors.ts';
import type { Deps } from '../operations/deps.ts';
import { networkOf } from '../users/throttle.ts';

interface ByToken {
  Params: { token: string };
  Body: Buffer | undefined;
}

/** The HTTP statuses of refusals, by code. */
const STATUSES = { signature: 403, expired: 403, topic: 403, login: 401, malformed: 400 };

/** Registers the URLs at which mail providers report events. */
export async function providerEventRoutes(app: FastifyInstance, deps: Deps): Promise<void> {
  const { db, clock, tokens, fetchFromAmazon } = deps;
  const client = db.$client;
  const refusedRequests = new RefusedRequests(client, clock);
  const certificates = new SnsCertificates(fetchFromAmazon);
  /** The intakes of requests that have passed `onRequest`. */
  const intakes = new WeakMap<FastifyRequest, { intake: Intake; secret: string | null }>();

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler<Error & { statusCode?: number }>((error, request, reply) => {
    const known = intakes.get(request);
    if (error instanceof Refusal) {
      if (known !== undefined) refusedRequests.refused(known.intake.id, error.code);
      if (error.code === 'login') reply.header('www-authenticate', 'Basic realm="Sendlark"');
      return sendFailure(reply, STATUSES[error.code], TEXTS[error.code]);
    }
    if (error instanceof Failure) return sendFailure(noteFailure(reply, error), error.status, error.message);
    const status = error.statusCode ?? 500;
    if (status < 500) return sendFailure(reply, status, frameworkText(status));
    request.log.error({ err: error, route: request.routeOptions.url }, 'events could not be taken in');
    return sendFailure(reply, 500, 'Internal error');
  });

  for (const provider of MAIL_PROVIDERS) {
    const { maxBytes, isSigned } = provider === 'ses' ? { maxBytes: EVENT_BYTES, isSigned: true } : PROVIDERS[provider];
    app.post<ByToken>(`/hooks/in/${provider}/:token`, {
      bodyLimit: maxBytes,
      // The token is checked before the body is read, so that a request without a valid token costs next to nothing.
      onRequest: async (request, reply) => {
        const intake = findByToken(request.params.token, provider);
        // Refused requests to one intake must not delay the requests to others. So they are counted by intake: all customers of a
        // provider share its network.
        const caller = intake === undefined ? networkOf(request.ip) : intakeCaller(intake.id);
        const waitMs = refusedRequests.waitMs(caller);
        if (waitMs > 0) reply.header('retry-after', String(Math.ceil(waitMs / 1000)));
        if (waitMs > 0) throw new Failure(429, 'Too many refused requests');
        if (intake === undefined) {
          refusedRequests.failed(caller);
          throw new Failure(404, 'Not Found');
        }
        const secret = openIntakeSecret(client, intake);
        intakes.set(request, { intake, secret });
        const needsPassword = !isSigned && intake.sealed_secret !== null;
        if (needsPassword && !isPassword(request.headers.authorization, secret)) throw new Refusal('login');
      },
      handler: async (request) => {
        const known = intakes.get(request);
        if (known === undefined) throw new Error('a request without an intake passed the check');
        const { intake, secret } = known;
        const now = clock.now();
        const received = { headers: request.headers, body: request.body ?? Buffer.alloc(0), secret, now };
        await applyEvents(deps, intake, await readAll(await readEvents(intake, received)), now);
        refusedRequests.write(intake.id);
        return { status: 'success', message: 'Recorded Successfully' };
      },
    });
  }

  function findByToken(token: string, provider: MailProvider): Intake | undefined {
    const text = tokens.read('provider-events', token);
    const intake = text === null ? undefined : findIntake(client, Number(text));
    return intake?.provider === provider ? intake : undefined;
  }

  async function readEvents({ id, provider }: Intake, received: ReceivedRequest): Promise<Iterable<ProviderEvent>> {
    if (provider !== 'ses') return PROVIDERS[provider].read(received);
    const message = await readSns(received, certificates);
    // SNS signs for anyone who has a topic, so only the first confirmed topic is accepted for this intake.
    if (message.type === 'SubscriptionConfirmation') {
      if (!keepTopic(client, id, message.topic)) throw new Refusal('topic');
      if (message.subscribeUrl !== null) await fetchFromAmazon(message.subscribeUrl);
    } else if (findIntake(client, id)?.topic !== message.topic) throw new Refusal('topic');
    return message.type === 'Notification' ? readSes(message.message, message.id) : [eventWithoutEffect(message.type)];
  }
}

/** The texts of refusals, by code. */
const TEXTS = {
  signature: 'The signature is not valid',
  expired: 'The signature is too old, or from the future',
  topic: 'The topic is not the one that was confirmed first',
  login: 'Invalid password',
  malformed: 'Malformed Request',
};

function sendFailure(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(failedBody(text)));
}

/** Returns true if the header has this password, in Basic authentication with any name (RFC 7617) or as a Bearer token (RFC 6750). */
function isPassword(header: string | undefined, expected: string | null): boolean {
  const [, scheme = '', text = ''] = /^(basic|bearer) +([\x21-\x7e]{1,1000})$/i.exec(header ?? '') ?? [];
  const login = Buffer.from(text, 'base64').toString('utf8');
  const secret = scheme.toLowerCase() === 'basic' ? login.slice(login.indexOf(':') + 1) : text;
  const hash = (value: string) => createHash('sha256').update(value).digest();
  return expected !== null && scheme !== '' && timingSafeEqual(hash(secret), hash(expected));
}
