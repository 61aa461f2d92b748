/** A short dialogue with an SMTP server (RFC 5321), one command after the other. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createInterface, type Interface } from 'node:readline';

/** The maximum number of bytes that a server may send in total. */
const MAX_BYTES = 64 * 1024;

/** Thrown if the server's reply is not the expected one. The message is the first line of the reply. */
export class SmtpRefusal extends Error {}

/**
 * Sends a command and returns the lines of the reply. With an empty command, only waits for the greeting. Throws an SmtpRefusal if the reply
 * does not begin with `expected`.
 */
type Ask = (command: string, expected: string) => Promise<string[]>;

/**
 * Runs `talk` over a socket once the event `ready` has occurred, and closes the socket. Ends after `timeoutMs` milliseconds at most. Throws
 * the errors of the socket and of `talk`.
 */
export async function talkSmtp<Result>(
  socket: Socket,
  ready: 'connect' | 'secureConnect',
  timeoutMs: number,
  talk: (ask: Ask) => Promise<Result>,
): Promise<Result> {
  const timer = setTimeout(() => socket.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
  const failure = new Promise<never>((_resolve, reject) => socket.once('error', reject));
  failure.catch(() => undefined);
  try {
    await Promise.race([once(socket, ready), failure]);
    const lines = createInterface({ input: socket });
    // readline emits the errors of the socket again. They are handled by `failure`.
    lines.on('error', () => undefined);
    socket.on('data', () => {
      if (socket.bytesRead > MAX_BYTES) socket.destroy(new Error('it says too much'));
    });
    const replies = repliesOf(lines);
    const result = await talk(async (command, expected) => {
      if (command !== '') socket.write(`${command}\r\n`);
      const { value } = await Promise.race([replies.next(), failure]);
      if (value === undefined) throw new Error('it closed the connection');
      if (!value[0]?.startsWith(expected)) throw new SmtpRefusal(value[0]);
      return value;
    });
    socket.write('QUIT\r\n');
    return result;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

/** Yields the server's replies, each as an array of its lines. */
async function* repliesOf(lines: Interface): AsyncGenerator<string[], undefined> {
  let reply: string[] = [];
  for await (const line of lines) {
    reply.push(line);
    if (line[3] === '-') continue;
    yield reply;
    reply = [];
  }
}
