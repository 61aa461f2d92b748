/** Whether the relay answers, and what it offers (RFC 5321 §4.1.1.1). No mail is sent, no password is given. */
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { createInterface, type Interface } from 'node:readline';
import { connect as connectTls } from 'node:tls';
import type { Config } from '../../config.ts';
import type { Check } from './check.ts';

const PATIENCE_MS = 10_000;
const NAME = 'Relay';

export async function relayCheck({ SMTP_URL }: Config): Promise<Check> {
  if (SMTP_URL === '') return { name: NAME, state: 'warn', found: 'none: mail stays in the built-in outbox' };
  const url = URL.canParse(SMTP_URL) ? new URL(SMTP_URL) : null;
  if (url === null || !/^smtps?:$/.test(url.protocol)) {
    return { name: NAME, state: 'fail', found: 'SMTP_URL is not smtp(s)://user:pass@host:port' };
  }
  const isTls = url.protocol === 'smtps:';
  const port = Number(url.port) || (isTls ? 465 : 587);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  try {
    const offers = await ehlo(host, port, isTls);
    const found = `${host}:${port} answers and offers ${offers.join(', ') || 'nothing'}`;
    const isOpen = !isTls && !offers.includes('STARTTLS') && !isLoopback(host);
    return isOpen
      ? { name: NAME, state: 'warn', found, advice: ['It offers no STARTTLS: mail and password travel in the clear.'] }
      : { name: NAME, state: 'ok', found };
  } catch (error) {
    const advice = ['Check host, port and firewall; many hosters block port 25, use 587 or 465.'];
    const why = error instanceof Error ? error.message || String(Object(error).code) : String(error);
    return { name: NAME, state: 'fail', found: `${host}:${port} does not answer: ${why}`, advice };
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

/** The names of the extensions that the server offers. */
async function ehlo(host: string, port: number, isTls: boolean): Promise<string[]> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const socket = isTls ? connectTls({ host, port, servername: host }) : connectTcp({ host, port });
  const cut = () => socket.destroy(new Error(`no answer within ${PATIENCE_MS / 1000} s`));
  signal.addEventListener('abort', cut);
  try {
    return await talk(socket, isTls ? 'secureConnect' : 'connect');
  } finally {
    signal.removeEventListener('abort', cut);
    socket.destroy();
  }
}

async function talk(socket: Socket, ready: string): Promise<string[]> {
  const failure = new Promise<never>((_resolve, reject) => socket.once('error', reject));
  failure.catch(() => undefined);
  await Promise.race([once(socket, ready), failure]);
  const lines = createInterface({ input: socket });
  // The interface repeats the socket's errors; the race above has them.
  lines.on('error', () => undefined);
  const replies = repliesOf(lines);
  const ask = async (expected: string): Promise<string[]> => {
    const { value } = await Promise.race([replies.next(), failure]);
    if (value === undefined) throw new Error('it closed the connection');
    if (!value[0]?.startsWith(expected)) throw new Error(value[0] ?? '');
    return value;
  };
  await ask('220');
  socket.write('EHLO doctor.invalid\r\n');
  const [, ...offers] = await ask('250');
  socket.write('QUIT\r\n');
  return offers.map((line) => line.slice(4).split(' ')[0]?.toUpperCase() ?? '');
}

/** The server's replies, each its lines. */
async function* repliesOf(lines: Interface): AsyncGenerator<string[], undefined> {
  let reply: string[] = [];
  for await (const line of lines) {
    reply.push(line);
    if (line[3] === '-') continue;
    yield reply;
    reply = [];
  }
}
