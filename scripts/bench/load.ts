/** A cheap HTTP client that loads a service: raw sockets, one request at a time on each, latencies kept. */
import { connect, type Socket } from 'node:net';
import { KEYS } from './measure.ts';

export interface Load {
  origin: string;
  connections: number;
  seconds: number;
  /** Requests a second over all connections; absent: as many as are answered. */
  rate?: number;
  /** The request with this number. */
  request: (number: number) => Request;
}

export interface Request {
  method: string;
  path: string;
  form?: string;
}

export interface Latencies {
  requests: number;
  /** Answers other than 2xx. */
  failed: number;
  /** Milliseconds. */
  p50: number;
  p95: number;
  p99: number;
  most: number;
}

/** Sends requests to the service for this time. */
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
      const rest = due - performance.now();
      if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
    }
    client.close();
  }
  await Promise.all(Array.from({ length: connections }, lane));
  return { ...percentiles(times), failed };
}

/** Count, median, 95th and 99th percentile, and maximum, in tenths of a millisecond. */
export function percentiles(times: readonly number[]): Omit<Latencies, 'failed'> {
  const sorted = Float64Array.from(times).sort();
  const at = (share: number) => Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * 10) / 10;
  return { requests: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), most: at(1) };
}

/** One connection: answers have a Content-Length, as all but streamed lists do. */
class Client {
  readonly #socket: Socket;
  #got = '';
  #answered: (status: string) => void = () => undefined;

  constructor(socket: Socket) {
    this.#socket = socket.setEncoding('latin1');
    socket.on('data', (piece: string) => {
      this.#got += piece;
      const end = this.#got.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#got)?.[1] ?? 0);
      if (this.#got.length < end + 4 + length) return;
      const status = this.#got.slice(9, 12);
      this.#got = '';
      this.#answered(status);
    });
    socket.on('error', () => this.#answered('000'));
    socket.on('close', () => this.#answered('000'));
  }

  /** Sends a request. Resolves with the status of the answer. */
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
