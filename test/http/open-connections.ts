/** A listening application, and connections to it by hand, so that a test decides what is sent and when. */
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Test } from 'tap';
import { startApp } from '../support/app.ts';

export const MIB = 1024 * 1024;

/** An application that listens, and a way to open connections to it. */
export async function listening(t: Test, settings: Record<string, string> = {}) {
  const app = await startApp(t, settings);
  await app.fastify.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.fastify.server.address() as AddressInfo;
  const [theirs, ours]: [Socket[], Socket[]] = [[], []];
  app.fastify.server.on('connection', (socket: Socket) => ours.push(socket));
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
  return {
    app,
    async open() {
      const connection = await opened(t, port);
      theirs.push(connection.socket);
      return connection;
    },
    /** Waits until the application has read everything that was sent, and has had time to act on it. */
    async allIsRead() {
      while (sum(ours.map(({ bytesRead }) => bytesRead)) < sum(theirs.map(({ bytesWritten }) => bytesWritten)))
        await setTimeout(5);
      // What the application does of it takes some turns of this process's loop, and files that it writes: 50 ms for them, and turns.
      await setTimeout(50);
      for (let turn = 0; turn < 50; turn++) await setImmediate();
    },
  };
}

/** A connection that keeps what it receives. */
async function opened(t: Test, port: number) {
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  let received = '';
  let isClosed = false;
  socket.on('data', (chunk) => {
    received += chunk;
  });
  // A connection may be reset while it is written to; that is an end like any other.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
  });
  await once(socket, 'connect');
  return {
    socket,
    send: (text: string) => socket.write(text),
    received: () => received,
    isClosed: () => isClosed,
    /** Waits until what was received matches. */
    async got(pattern: RegExp): Promise<string> {
      while (!pattern.test(received)) {
        if (isClosed) throw new Error(`closed after ${JSON.stringify(received)}`);
        await setTimeout(5);
      }
      return received;
    },
    async closed(): Promise<string> {
      while (!isClosed) await setTimeout(5);
      return received;
    },
  };
}

/** The head of a request. */
export function head(path: string, headers: Record<string, string | number>, method = 'POST'): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\nHost: x\r\n${lines.join('')}\r\n`;
}

export const URLENCODED = 'application/x-www-form-urlencoded';
