/** Health checks for supervisors: `/healthz` tells whether the process is alive, `/readyz` whether it can do its work. */
import type { FastifyInstance } from 'fastify';
import { writeNamedValue } from '../database/named-values.ts';
import { NODE_STATES, type NodeState } from '../database/schema/index.ts';
import { failingSteps } from '../delivery/queue/failing-steps.ts';
import { lastBeatAt, mailWaitsReason, STALLED_AFTER_MS, sendingHeldReason } from '../delivery/queue/holds.ts';
import { currentRelayFailure } from '../delivery/queue/relay-use.ts';
import { oldestDueAt, readGauges } from '../delivery/reporting/gauges.ts';
import { listSenderNodes } from '../delivery/reporting/sender-nodes.ts';
import { courierInUse, hasRelay } from '../delivery/transport/relays/in-use.ts';
import type { Said } from '../errors/sentences.ts';
import { proofOf } from '../installation/health-checks/public-url.ts';
import type { Deps } from '../operations/deps.ts';

/** A readiness check writes to disk, so requests within this time share one check. */
const PROBE_MS = 1000;
/** How long a check waits for the write lock before it reports that nothing can be written. */
const LOCK_WAIT_MS = 1500;
const CHALLENGE = /^[\da-f]{32}$/;

interface Readiness {
  ready: boolean;
  can_write: boolean;
  background: 'running' | 'stalled';
  /** Steps of the background thread that have kept failing for a while. */
  failing: string[];
  sending: 'on' | 'held';
  held_reason: Said | null;
  /**
   * outbox: no SMTP relay is set up, mail is only stored; nodes: there is no relay, but sender nodes send campaigns; failing: relays fail,
   * and none has accepted a mail since.
   */
  relay: 'outbox' | 'nodes' | 'working' | 'failing';
  /** Why due mail waits although sending is on: the SMTP relay's reply, or that no sender node can take it. */
  waits_reason: Said | null;
  /** How long the oldest due mail has been waiting; 0 if none waits. */
  oldest_due_seconds: number;
  /** How long the oldest hand-off has waited for the SMTP server; 0 if none is under way. */
  oldest_sending_seconds: number;
  /** Sender nodes by state; null without NATS_URL. */
  nodes: Partial<Record<NodeState, number>> | null;
}

/** Registers /healthz and /readyz. */
export async function healthRoutes(app: FastifyInstance, { db, clock, config, lock, tokens }: Deps): Promise<void> {
  const client = db.$client;
  let probedAt = Number.NEGATIVE_INFINITY;
  let last: Promise<Readiness> | null = null;

  // The check of the public URL sends a challenge. The proof in the reply shows that the URL leads to this installation.
  app.get<{ Querystring: { challenge?: unknown } }>('/healthz', async ({ query: { challenge } }) => {
    const isAsked = typeof challenge === 'string' && CHALLENGE.test(challenge);
    return isAsked ? { alive: true, proof: proofOf(tokens, challenge) } : { alive: true };
  });

  app.get('/readyz', async (_request, reply) => {
    const now = clock.monotonic();
    if (last === null || now - probedAt >= PROBE_MS) {
      last = checkReadiness();
      probedAt = now;
    }
    const current = await last;
    return reply.code(current.ready ? 200 : 503).send(current);
  });

  async function checkReadiness(): Promise<Readiness> {
    const now = clock.now().getTime();
    const canWrite = await tryToWrite(String(now));
    const isRunning = Math.abs(now - lastBeatAt(client)) < STALLED_AFTER_MS;
    const steps = failingSteps(client);
    // Held sending does not make the service unready, because only the operator can release it and a restart would not help.
    const reason = sendingHeldReason(client);
    // A failing SMTP relay does not make the service unready either, because the relay is retried and mail waits on disk.
    const failing = currentRelayFailure(client, config);
    const withoutRelay = courierInUse(client, config) === 'nodes' ? 'nodes' : 'outbox';
    const withRelay = failing === null ? 'working' : 'failing';
    const due = oldestDueAt(client, now) ?? now;
    return {
      ready: canWrite && isRunning && steps.length === 0,
      can_write: canWrite,
      background: isRunning ? 'running' : 'stalled',
      failing: steps,
      sending: reason === null ? 'on' : 'held',
      held_reason: reason,
      relay: hasRelay(client, config) ? withRelay : withoutRelay,
      waits_reason: mailWaitsReason(client) ?? (due < now && failing !== null ? failing.reply : null),
      oldest_due_seconds: Math.floor((now - due) / 1000),
      oldest_sending_seconds: Math.max(0, Math.floor((now - (readGauges(client).oldestSending ?? now)) / 1000)),
      nodes: config.NATS_URL.length === 0 ? null : countNodes(now),
    };
  }

  function countNodes(now: number): Partial<Record<NodeState, number>> {
    const nodes = listSenderNodes(client, now).map(({ state }) => state);
    return Object.fromEntries(NODE_STATES.map((state) => [state, nodes.filter((node) => node === state).length]));
  }

  /** Writes a value to the database. Returns false, and logs the error, if nothing can be written. */
  async function tryToWrite(value: string): Promise<boolean> {
    try {
      await lock.write(() => writeNamedValue(client, 'probed', value), LOCK_WAIT_MS);
      return true;
    } catch (error) {
      app.log.error({ err: error }, 'the database cannot be written');
      return false;
    }
  }
}
