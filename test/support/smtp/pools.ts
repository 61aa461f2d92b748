/** For tests of the SMTP client: pools that send to scripted relays, and short names for what comes of it. */
import type { Test } from 'tap';
import { MailData } from '../../../src/delivery/mime/mail-data.ts';
import type { Outcome } from '../../../src/delivery/transport/smtp/outcome.ts';
import { type PoolOptions, SmtpPool } from '../../../src/delivery/transport/smtp/pool.ts';
import { parseRelays } from '../../../src/delivery/transport/smtp/relay-urls.ts';
import type { Sink } from './scripted-relay.ts';

export const MESSAGE = MailData.of('Subject: x\r\n\r\nHello\r\n');
export const NO_PIPELINING = ['8BITMIME', 'SIZE 10000000'];
/** A short timeout, for stages that are meant to time out. */
export const SOON = 60;

export type Ended = Outcome | 'withdrawn';

/** A pool for these relays, which is closed when the test ends. */
export function openPool(t: Test, sinks: Sink | Sink[], options: PoolOptions = {}): SmtpPool {
  const urls = [sinks].flat().map((sink) => sink.url);
  const pool = new SmtpPool(parseRelays(urls.join(',')), { ...options, timeouts: { quit: 200, ...options.timeouts } });
  t.teardown(() => pool.close(0));
  return pool;
}

/** Sends one message; null: the hand-off is withdrawn when it starts. */
export function send(pool: SmtpPool, to = 'b@example.com', message: MailData | null = MESSAGE): Promise<Ended> {
  return pool.send({ from: 'a@example.com', to, start: () => message });
}

/** A promise that the test resolves. */
export function gate(): { passed: Promise<void>; open: () => void } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

/** Sends `count` messages at once. */
export function sendMany(pool: SmtpPool, count: number): Promise<Ended[]> {
  return Promise.all(Array.from({ length: count }, (_, number) => send(pool, `b${number}@example.com`)));
}

/** An outcome in three words. */
export function brief(ended: Ended): string {
  return ended === 'withdrawn' ? ended : `${ended.kind} ${ended.stage} ${ended.code}`;
}

/** The open TCP sockets of this process: of each connection to a scripted relay both ends, which do not close at the same moment. */
export function socketEnds(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;
}

/** A monotonic clock that the test advances. */
export function clock() {
  let ahead = 0;
  return {
    monotonic: () => performance.now() + ahead,
    advance: (ms: number) => {
      ahead += ms;
    },
  };
}

/** The recipients b0, b1, … whose messages were accepted. */
export function accepted(ended: Ended[]): string[] {
  return ended
    .flatMap((one, number) => (one !== 'withdrawn' && one.kind === 'accepted' ? [`b${number}@example.com`] : []))
    .sort();
}
