/**
 * An SMTP server that accepts every message and counts it. It is a process of its own, so that its CPU time does not count as the client's.
 *
 *   node scripts/bench/sink.ts [--rate N] [--latency MS] [--record] [--port N] [--control N]
 *
 * It prints one line of JSON with both ports once it listens. With `--rate` it accepts at most N messages a second over all
 * connections; with `--latency` it delays every answer; with `--record` it keeps the Message-IDs of each recipient.
 *
 * On the control port, GET / answers with totals; GET /recipients with the number of mails of each recipient, or with their Message-IDs
 * under `--record`; GET /taken, under `--record`, with every mail, the name by which its client introduced itself and the time when the
 * mail began, in epoch milliseconds. POST /reset forgets all of this; POST /rate/N changes the rate.
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
let rate = Number(options.rate);
const latency = Number(options.latency);

const GREETING = Buffer.from('220 sink ESMTP\r\n');
const HELLO = Buffer.from('250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SIZE 104857600\r\n');
const OK = Buffer.from('250 ok\r\n');
const GO_AHEAD = Buffer.from('354 go ahead\r\n');
/** The answers to MAIL, RCPT and DATA that arrive together. */
const ENVELOPE_ANSWERS = Buffer.concat([OK, OK, GO_AHEAD]);
/** The answer to a message, and the answers to the envelope of the next message, which arrived with its end. */
const MESSAGE_AND_ENVELOPE_ANSWERS = Buffer.concat([OK, ENVELOPE_ANSWERS]);
const BYE = Buffer.from('221 bye\r\n');
const END_OF_DATA = Buffer.from('\r\n.\r\n');
/** More bytes than the end of a message and the envelope of the next message have together. */
const MAX_TAIL = 1024;

let totals = { messages: 0, bytes: 0, connections: 0 };
let recipients = new Map<string, number>();
let messageIds = new Map<string, string[]>();
/** Every mail, with `--record`. `from` is the name by which the client introduced itself. */
let taken: { to: string; messageId: string; from: string; begunAt: number }[] = [];
/** When the next message may be answered under `--rate`, in monotonic milliseconds. */
let nextSlot = 0;

class Client {
  readonly #socket: Socket;
  /** The command text that has arrived and is not answered. */
  #commands = '';
  #recipient = '';
  /** The name of its EHLO. */
  #name = '';
  /** When the envelope of the present mail arrived, in epoch milliseconds. */
  #begunAt = 0;
  /** True between DATA and the end of the message. */
  #inMessage = false;
  /** The beginning of the present message, with `--record`. */
  #head = '';
  /** The last bytes of the present message, in which the end of the data may have begun. */
  #tail = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.#socket = socket;
    totals.connections++;
    this.#answer(GREETING);
    socket.on('data', (chunk) => (this.#inMessage ? this.#message(chunk) : this.#lines(chunk.toString('latin1'))));
    socket.on('error', () => socket.destroy());
  }

  /** Answers the complete command lines. `earlierAnswer` is sent before them. */
  #lines(text: string, earlierAnswer?: Buffer): void {
    this.#commands += text;
    const answers: Buffer[] = earlierAnswer === undefined ? [] : [earlierAnswer];
    let end = this.#commands.indexOf('\r\n');
    for (; end !== -1 && !this.#inMessage; end = this.#commands.indexOf('\r\n')) {
      answers.push(this.#command(this.#commands.slice(0, end)));
      this.#commands = this.#commands.slice(end + 2);
    }
    if (answers.length === 4 && answers[3] === GO_AHEAD) this.#answer(MESSAGE_AND_ENVELOPE_ANSWERS);
    else if (answers.length === 3 && answers[2] === GO_AHEAD) this.#answer(ENVELOPE_ANSWERS);
    else if (answers.length > 0) this.#answer(answers.length === 1 ? (answers[0] ?? OK) : Buffer.concat(answers));
  }

  /** Obeys a command line. Returns the answer to it. */
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

  /**
   * Reads a chunk of a message. A client waits for the 354 before it sends the next message, so only a short envelope can follow the end of
   * the data, and both are at the end of a chunk.
   */
  #message(chunk: Buffer): void {
    if (options.record && this.#head.length < 16_384) this.#head += chunk.toString('latin1', 0, 16_384);
    const withTail = chunk.length >= MAX_TAIL ? chunk : Buffer.concat([this.#tail, chunk]);
    const window = withTail.subarray(-MAX_TAIL);
    const end = window.lastIndexOf(END_OF_DATA);
    if (end === -1) {
      totals.bytes += chunk.length;
      this.#tail = Buffer.from(window);
      return;
    }
    const envelope = window.subarray(end + END_OF_DATA.length);
    totals.bytes += chunk.length - envelope.length;
    this.#inMessage = false;
    this.#tail = Buffer.alloc(0);
    totals.messages++;
    recipients.set(this.#recipient, (recipients.get(this.#recipient) ?? 0) + 1);
    if (options.record) this.#record();
    const wait = this.#takeSlot();
    if (envelope.length === 0) this.#answer(OK, wait);
    else if (wait + latency < 1) this.#lines(envelope.toString('latin1'), OK);
    else setTimeout(() => this.#lines(envelope.toString('latin1'), OK), wait);
  }

  #record(): void {
    const id = /^message-id:\s*(\S+)/im.exec(this.#head)?.[1] ?? '';
    const known = messageIds.get(this.#recipient);
    if (known === undefined) messageIds.set(this.#recipient, [id]);
    else known.push(id);
    taken.push({ to: this.#recipient, messageId: id, from: this.#name, begunAt: this.#begunAt });
    this.#head = '';
  }

  /** Returns the milliseconds until a message may be answered under `--rate`. */
  #takeSlot(): number {
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
  const newRate = /^\/rate\/(\d+)$/.exec(request.url ?? '')?.[1];
  if (request.method === 'POST' && newRate !== undefined) rate = Number(newRate);
  else if (request.method === 'POST') {
    totals = { messages: 0, bytes: 0, connections: 0 };
    recipients = new Map();
    messageIds = new Map();
    taken = [];
  }
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(answerTo(request.url)));
});

function answerTo(url = '/') {
  if (url === '/taken') return taken;
  if (url === '/recipients') return Object.fromEntries(options.record ? messageIds : recipients);
  const { user, system } = process.cpuUsage();
  return { ...totals, recipients: recipients.size, cpuSeconds: (user + system) / 1e6 };
}

/** Listens on loopback. Returns the port. */
function listen(server: Server, port: string): Promise<number> {
  return new Promise((resolve) => {
    server.listen(Number(port), '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

console.log(
  JSON.stringify({ smtp: await listen(smtp, options.port), control: await listen(control, options.control) }),
);
