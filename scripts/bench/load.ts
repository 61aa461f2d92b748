/** An HTTP client that loads a service with little CPU time of its own: raw sockets, with one request at a time on each. */
import { connect, type Socket } from 'node:net';
import { KEYS } from './measure.ts';

export interface Load {
  origin: string;
  connections: number;
  seconds: number;
  /** Requests a second over all connections; absent: each connection sends the next request as soon as it has an answer. */
  rate?: number;
  /** Returns the request with this number; numbers begin at 0. */
  request: (number: number) => Request;
}

export interface Request {
  method: string;
  path: string;
  /** The URL-encoded body, in ASCII; absent: no body. */
  form?: string;
}

/** How long requests took. */
export interface Latencies {
  requests: number;
  /** How many answers had another status than 2xx. */
  failed: number;
  /** Percentiles, in milliseconds. */
  p50: number;
  p95: number;
  p99: number;
  /** The longest, in milliseconds. */
  most: number;
}

/** Sends requests to the service for `seconds`. Returns how long they took. */
export async function load({ origin, connections, seconds, rate, request }: Load): Promise<Latencies> {
  const { hostname, port } = new URL(origin);
  const until = performance.now() + seconds * 1000;
  const times: number[] = [];
  let failed = 0;
  let next = 0;
  async function lane(): Promise<void> {
    const client = new Client(connect({ host: hostname, port: Number(port), noDelay: true }));
    let due = performance.now();
    while (performance.now() < until) {
      const started = performance.now();
      if (!(await client.send(request(next++))).startsWith('2')) failed++;
      times.push(performance.now() - started);
      if (rate === undefined) continue;
      due += (1000 * connections) / rate;
      const wait = due - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    }
    client.close();
  }
  await Promise.all(Array.from({ length: connections }, lane));
  return { ...percentiles(times), failed };
}

/** Returns the number of times, their percentiles and the longest. All are in milliseconds, rounded to tenths. */
export function percentiles(times: readonly number[]): Omit<Latencies, 'failed'> {
  const sorted = Float64Array.from(times).sort();
  const at = (share: number) => Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * 10) / 10;
  return { requests: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), most: at(1) };
}

/** A connection to the service. It can read only answers with a Content-Length, so no streamed lists. */
class Client {
  readonly #socket: Socket;
  /** The part of the answer that has arrived. */
  #received = '';
  #answered: (status: string) => void = () => undefined;

  constructor(socket: Socket) {
    this.#socket = socket.setEncoding('latin1');
    socket.on('data', (piece: string) => {
      this.#received += piece;
      const headEnd = this.#received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#received)?.[1] ?? 0);
      if (this.#received.length < headEnd + 4 + length) return;
      const status = this.#received.slice(9, 12);
      this.#received = '';
      this.#answered(status);
    });
    socket.on('error', () => this.#answered('000'));
    socket.on('close', () => this.#answered('000'));
  }

  /** Sends a request. Resolves with the status of the answer, or with 000 if the connection failed. */
  send({ method, path, form = '' }: Request): Promise<string> {
    const type =
      form === '' ? '' : `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}\r\n`;
    this.#socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: bench\r\nPublicKey: ${KEYS.PUBLIC_KEY}\r\nSecretKey: ${KEYS.SECRET_KEY}\r\n${type}\r\n${form}`,
    );
    return new Promise((resolve) => {
      this.#answered = resolve;
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}
