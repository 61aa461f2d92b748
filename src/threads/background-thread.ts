/**
 * Entry point of the background thread, which has its own database connection and loop. Messages wake the thread, and the message `stop`
 * ends it. An idle thread asks whether it may rest. Once that is granted, it takes another step, and ends if the step finds nothing to do
 * (see `kept-thread.ts`).
 */
import { parentPort, workerData } from 'node:worker_threads';
import { connect } from '../database/open.ts';
import type { BounceListener } from '../delivery/feedback/bounces/listener.ts';
import { findPublicUrl } from '../delivery/links/public-url.ts';
import { openTokens } from '../delivery/links/tokens.ts';
import { RelayUse } from '../delivery/queue/relay-use.ts';
import { OutboxCourier } from '../delivery/transport/outbox.ts';
import { CurrentCourier } from '../delivery/transport/relays/current-courier.ts';
import { RELAY_FAILS, RELAY_WORKS } from '../delivery/transport/relays/failing-relays.ts';
import { hasRelay } from '../delivery/transport/relays/in-use.ts';
import { configuredName, heloName } from '../delivery/transport/smtp/helo.ts';
import type { Outcome } from '../delivery/transport/smtp/outcome.ts';
import { SmtpPool } from '../delivery/transport/smtp/pool.ts';
import { parseRelays, type Relay } from '../delivery/transport/smtp/relay-urls.ts';
import { dnsResolver } from '../installation/health-checks/domain-authentication.ts';
import type { Log } from '../log.ts';
import { systemClock } from '../time/clock.ts';
import { Background } from './background.ts';
import type { KeptThreadData } from './kept-thread.ts';

const IDLE_MS = 500;
/** The shortest rest for which the thread ends. For a shorter one, starting again would cost more than waiting. */
const MIN_REST_MS = 60_000;
/** The wait before trying again to listen for returned mail. */
const LISTEN_RETRY_MS = 10_000;
const LOCK_TIMEOUT_MS = 1000;

let isStopping = false;
const { config, origin, restsAfterMs, knownHolds }: KeptThreadData = workerData;
const db = connect(config.DATABASE_PATH);
// The timeout is short, because a stop has to wait for a statement that waits for the lock.
db.$client.pragma(`busy_timeout = ${LOCK_TIMEOUT_MS}`);
const publicUrl = () => findPublicUrl(db.$client, config).url || origin;
const log: Log = (fields, text, level) => parentPort?.postMessage({ fields, text, level });
const relayUse = new RelayUse(db.$client);
const onRelayFailure = (relay: string, { stage, reply }: Outcome, id: number | undefined) => {
  writeSafely(() => {
    if (relayUse.failed({ relay, id, reply, at: Date.now() })) log({ relay, stage, reply }, RELAY_FAILS, 'warn');
  });
};
const onRelayAcceptance = (relay: string, id: number | undefined) =>
  writeSafely(() => {
    if (relayUse.accepted({ relay, id, at: Date.now() })) log({ relay }, RELAY_WORKS);
  });
/** The ehloName for EHLO if neither SMTP_HELO nor the public URL provides one. */
let machineName = '';
const ehloName = () => configuredName(config.SMTP_HELO, publicUrl()) || machineName;
const openRelays = (relays: readonly Relay[]) =>
  new SmtpPool(relays, { connections: config.SMTP_CONNECTIONS, name: ehloName, onRelayFailure, onRelayAcceptance });
const machineNameFound = heloName('', '').then((name) => {
  machineName = name;
});
// Waits for the machine's ehloName only if a relay would get that ehloName, because finding it may take a DNS lookup.
if (ehloName() === '' && hasRelay(db.$client, config)) await machineNameFound;
const courier = () =>
  config.SMTP_URL === ''
    ? new CurrentCourier({
        client: db.$client,
        open: (relays) => (relays.length === 0 ? new OutboxCourier(db, systemClock) : openRelays(relays)),
        graceMs: config.SHUTDOWN_SECONDS * 1000,
      })
    : openRelays(parseRelays(config.SMTP_URL));
// The module is imported only here, so that nothing of it is loaded without sender nodes.
const controller =
  config.NATS_URL.length > 0
    ? new (await import('../nodes/controller/controller.ts')).Controller({ client: db.$client, config, log })
    : null;
const background = new Background({
  db,
  config,
  clock: systemClock,
  courier: courier(),
  resolveMx: (domain) => dnsResolver().resolveMx(domain),
  ...(controller !== null && { openNodes: (deps) => controller.open(deps) }),
  tokens: openTokens(db.$client),
  publicUrl,
  log,
  knownHolds,
});

/** Logs a failed write. Nothing is lost: the next step tries again, because the work is on disk or still in memory. */
function writeSafely(work: () => void): void {
  try {
    work();
  } catch (error) {
    log({ err: String(error) }, 'the background thread could not write', 'warn');
  }
}

/**
 * Runs a step. If it fails, for example on a full disk, logs the error; the step is repeated after the pause, because the queue is on disk.
 */
async function stepSafely(): Promise<boolean> {
  try {
    return await background.step();
  } catch (error) {
    log({ err: String(error) }, 'a background step failed; it will be tried again', 'warn');
    return false;
  }
}

/** Returns when there is work to do next, in epoch milliseconds; 0 if that cannot be determined. */
function nextWorkAt(): number {
  try {
    return background.nextWorkAt();
  } catch (error) {
    log({ err: String(error) }, 'the background thread cannot find out what is due next', 'warn');
    return 0;
  }
}

/** The listeners for returned mail; empty while the port cannot be used, or none is configured. */
const bounceListeners: BounceListener[] = [];
if (config.BOUNCE_LISTEN !== null) void listenForBounces(config.BOUNCE_LISTEN);

/** Listens for returned mail. Retries while another program uses the port, because that must not stop sending. */
async function listenForBounces(at: { host: string; port: number }): Promise<void> {
  try {
    // The module is imported only here, because smtp-server takes 8 MB and 40 ms of CPU time to load.
    const { startBounceIntake } = await import('../delivery/feedback/bounces/intake.ts');
    const listener = await startBounceIntake(db, systemClock, { ...at, domain: config.BOUNCE_DOMAIN });
    if (isStopping) await listener.close();
    else bounceListeners.push(listener);
  } catch (error) {
    log({ setting: 'BOUNCE_LISTEN', err: String(error) }, 'cannot listen for returned mail; will try again', 'warn');
    setTimeout(() => void listenForBounces(at), LISTEN_RETRY_MS).unref();
  }
}

// Results are written even while a step enqueues recipients or compiles.
setInterval(() => writeSafely(() => background.record()), background.recordMs).unref();

let wake: () => void = () => undefined;
let mayRest = false;
parentPort?.on('message', (message) => {
  if (message === 'stop') {
    isStopping = true;
    background.stop();
  }
  if (message === 'rest') mayRest = true;
  writeSafely(() => background.acknowledge());
  writeSafely(() => background.handOverTransactional());
  wake();
});

/**
 * True if the thread may rest at all. With sender nodes, or if it listens for returned mail, it never rests, because other programs send it
 * messages.
 */
const mayEverRest = controller === null && config.BOUNCE_LISTEN === null;
/** The time at which the last step that found work ended, on the monotonic clock. */
let busyAt = performance.now();
/**
 * True if the thread has asked for a rest and has no reply yet. It must not ask twice: the second reply would arrive after the step that
 * the first reply causes, and would hide writes made in between.
 */
let hasAsked = false;
while (!isStopping) {
  const isGranted = mayRest;
  mayRest = false;
  if (isGranted) hasAsked = false;
  if (await stepSafely()) {
    busyAt = performance.now();
    continue;
  }
  if (mayEverRest && performance.now() - busyAt >= restsAfterMs) {
    const nextAt = nextWorkAt();
    if (nextAt - Date.now() >= MIN_REST_MS) {
      if (isGranted) {
        parentPort?.postMessage({ restsUntil: nextAt, knownHolds: background.knownHolds });
        break;
      }
      if (!hasAsked) parentPort?.postMessage({ asks: 'rest' });
      hasAsked = true;
    }
  }
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, IDLE_MS);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
for (const listener of bounceListeners) await listener.close();
await background.close(config.SHUTDOWN_SECONDS * 1000);
await controller?.close();
// Acknowledges the stop to the requests that wait for it: from now on nothing is sent.
writeSafely(() => background.acknowledge());
db.$client.close();
parentPort?.close();
