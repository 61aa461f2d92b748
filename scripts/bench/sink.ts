/**
 * A relay that takes everything, counts it and forgets it; a process of its own, so that its work is not the client's.
 *
 *   node scripts/bench/sink.ts [--rate N] [--latency MS] [--record] [--port N] [--control N]
 *
 * Prints one line of JSON with both ports once it listens. `--rate` answers at most so many messages a second, all
 * connections together; `--latency` delays every answer; `--record` keeps the Message-IDs of each recipient.
 * GET / on the control port gives totals, GET /recipients how often each recipient got mail (with `--record`: under
 * which Message-IDs), GET /taken with `--record` every mail with the name its client gave and when it began, in epoch
 * milliseconds, POST /reset starts from zero.
 */
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    rate: { type: 'string', default: '0' },
    latency: { type: 'string', default: '0' },
    record: { type: 'boolean', default: false },
    port: { type: 'string', default: '0' },
    control: { type: 'string', default: '0' },
  },
});
const rate = Number(options.rate);
const latency = Number(options.latency);

const GREETING = Buffer.from('220 sink ESMTP\r\n');
const HELLO = Buffer.from('250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SIZE 104857600\r\n');
const OK = Buffer.from('250 ok\r\n');
const GO_AHEAD = Buffer.from('354 go ahead\r\n');
const ENVELOPE_TAKEN = Buffer.concat([OK, OK, GO_AHEAD]);
const BOTH_TAKEN = Buffer.concat([OK, ENVELOPE_TAKEN]);
const BYE = Buffer.from('221 bye\r\n');
const END = Buffer.from('\r\n.\r\n');
/** More bytes than an envelope after an end of data has. */
const MOST_BEHIND = 1024;

let totals = { messages: 0, bytes: 0, connections: 0 };
let recipients = new Map<string, number>();
let messageIds = new Map<string, string[]>();
let taken: { to: string; messageId: string; from: string; begunAt: number }[] = [];
/** When the next message may be answered, in monotonic milliseconds. */
let nextSlot = 0;

class Client {
  readonly #socket: Socket;
  #commands = '';
  #recipient = '';
  #name = '';
  #begunAt = 0;
  #inMessage = false;
  #head = '';
  #tail = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.#socket = socket;
    totals.connections++;
    this.#answer(GREETING);
    socket.on('data', (chunk) => (this.#inMessage ? this.#message(chunk) : this.#lines(chunk.toString('latin1'))));
    socket.on('error', () => socket.destroy());
  }

  /** Answers command lines, after an answer that is still due. */
  #lines(text: string, due?: Buffer): void {
    this.#commands += text;
    const answers: Buffer[] = due === undefined ? [] : [due];
    let end = this.#commands.indexOf('\r\n');
    for (; end !== -1 && !this.#inMessage; end = this.#commands.indexOf('\r\n')) {
      answers.push(this.#command(this.#commands.slice(0, end)));
      this.#commands = this.#commands.slice(end + 2);
    }
    if (answers.length === 4 && answers[3] === GO_AHEAD) this.#answer(BOTH_TAKEN);
    else if (answers.length === 3 && answers[2] === GO_AHEAD) this.#answer(ENVELOPE_TAKEN);
    else if (answers.length > 0) this.#answer(answers.length === 1 ? (answers[0] ?? OK) : Buffer.concat(answers));
  }

  #command(line: string): Buffer {
    switch (line.slice(0, 4).toUpperCase()) {
      case 'EHLO':
        this.#name = line.slice(5);
        return HELLO;
      case 'RCPT':
        this.#recipient = line.slice(line.indexOf('<') + 1, line.indexOf('>'));
        this.#begunAt = Date.now();
        return OK;
      case 'DATA':
        this.#inMessage = true;
        return GO_AHEAD;
      case 'QUIT':
        this.#socket.end();
        return BYE;
      default:
        return OK;
    }
  }

  /** Clients wait for the 354 before they send a message, so what follows its dot is short and ends a chunk. */
  #message(chunk: Buffer): void {
    if (options.record && this.#head.length < 16_384) this.#head += chunk.toString('latin1', 0, 16_384);
    const whole = chunk.length >= MOST_BEHIND ? chunk : Buffer.concat([this.#tail, chunk]);
    const window = whole.subarray(-MOST_BEHIND);
    const end = window.lastIndexOf(END);
    if (end === -1) {
      totals.bytes += chunk.length;
      this.#tail = Buffer.from(window);
      return;
    }
    const behind = window.subarray(end + END.length);
    totals.bytes += chunk.length - behind.length;
    this.#inMessage = false;
    this.#tail = Buffer.alloc(0);
    totals.messages++;
    recipients.set(this.#recipient, (recipients.get(this.#recipient) ?? 0) + 1);
    if (options.record) this.#record();
    const slot = this.#slot();
    if (behind.length === 0) this.#answer(OK, slot);
    else if (slot + latency < 1) this.#lines(behind.toString('latin1'), OK);
    else setTimeout(() => this.#lines(behind.toString('latin1'), OK), slot);
  }

  #record(): void {
    const id = /^message-id:\s*(\S+)/im.exec(this.#head)?.[1] ?? '';
    const known = messageIds.get(this.#recipient);
    if (known === undefined) messageIds.set(this.#recipient, [id]);
    else known.push(id);
    taken.push({ to: this.#recipient, messageId: id, from: this.#name, begunAt: this.#begunAt });
    this.#head = '';
  }

  /** Milliseconds until a message may be answered. */
  #slot(): number {
    if (rate === 0) return 0;
    const now = performance.now();
    nextSlot = Math.max(now, nextSlot + 1000 / rate);
    return nextSlot - now;
  }

  #answer(text: Buffer, wait = 0): void {
    if (wait + latency < 1) this.#socket.write(text);
    else setTimeout(() => this.#socket.write(text), wait + latency);
  }
}

const smtp = createServer({ noDelay: true }, (socket) => new Client(socket));

const control = createHttpServer((request, response) => {
  if (request.method === 'POST') {
    totals = { messages: 0, bytes: 0, connections: 0 };
    recipients = new Map();
    messageIds = new Map();
    taken = [];
  }
  const unique = recipients.size;
  const cpu = process.cpuUsage();
  const body =
    request.url === '/taken'
      ? taken
      : request.url === '/recipients'
        ? Object.fromEntries(options.record ? messageIds : recipients)
        : { ...totals, recipients: unique, cpuSeconds: (cpu.user + cpu.system) / 1e6 };
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(body));
});

/** Listens on loopback and gives the port. */
function listen(server: Server, port: string): Promise<number> {
  return new Promise((resolve) => {
    server.listen(Number(port), '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

console.log(
  JSON.stringify({ smtp: await listen(smtp, options.port), control: await listen(control, options.control) }),
);
