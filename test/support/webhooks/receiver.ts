/** An endpoint for webhooks on a free port of this machine, which answers as a test says. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

export interface ReceivedEvent {
  path: string;
  headers: IncomingHttpHeaders;
  /** The body as it was sent. */
  raw: string;
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads events of any shape, and asserts what it reads
  data: any;
  id: string;
}

export interface Receiver {
  url: string;
  events: ReceivedEvent[];
  /** What is answered from now on; 204 at first. */
  answerWith(answer: (event: ReceivedEvent, reply: ServerResponse) => void): void;
  close(): Promise<void>;
}

/** Starts an endpoint, which is closed with the test. */
export async function startReceiver(t: Test): Promise<Receiver> {
  const events: ReceivedEvent[] = [];
  let answer = (_event: ReceivedEvent, reply: ServerResponse): void => {
    reply.writeHead(204).end();
  };
  const server = createServer(async (request, reply) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const raw = Buffer.concat(chunks).toString();
    const { type, data } = JSON.parse(raw);
    const { headers, url: path = '' } = request;
    const event = { path, headers, raw, type, data, id: String(headers['webhook-id']) };
    events.push(event);
    answer(event, reply);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  t.teardown(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    events,
    answerWith(next) {
      answer = next;
    },
    close,
  };
}
