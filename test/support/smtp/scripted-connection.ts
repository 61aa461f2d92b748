/** One connection of a scripted relay: reads commands and messages, and gives the replies of the script. */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type SecureContext, TLSSocket } from 'node:tls';

/** What a reply may depend on. */
type Moment = {
  /** The command line without its CRLF; empty for the greeting and the end of data. */
  line: string;
  /** Number of the connection, from 1. */
  connection: number;
  /** How often this connection has reached this point, from 1. */
  time: number;
  /** What has already arrived after the line. */
  pipelined: string;
};

/** The bytes to send, CRLF included; null: nothing from now on; DROP: close the connection at once. */
export const DROP = Symbol('drop');
type Said = string | null | typeof DROP;
export type Answer = Said | ((moment: Moment) => Said | Promise<Said>);

export type Script = {
  greeting?: Answer;
  ehlo?: Answer;
  helo?: Answer;
  starttls?: Answer;
  auth?: Answer;
  mail?: Answer;
  rcpt?: Answer;
  data?: Answer;
  /** After the end of data. */
  dot?: Answer;
  rset?: Answer;
  /** Null also keeps the connection open. */
  quit?: Answer;
  /** To a line that is not a command, as during AUTH. */
  other?: Answer;
  /** Sent in the middle of a message, once so many bytes of it have arrived. */
  early?: { after: number; answer: string };
  /** Keywords announced after EHLO. */
  offers?: string[];
  /** Milliseconds between two bytes of an answer. */
  drip?: number;
  /** Further connections get a 421 greeting and are closed. */
  most?: number;
  /** For STARTTLS. */
  context?: SecureContext;
  /** Drops everything that arrived after the end of data. */
  forgetsBehindDot?: boolean;
  /** Reads nothing of a message. */
  ignoresData?: boolean;
};

export type Received = { from: string; to: string; message: Buffer };

type Point =
  | 'greeting'
  | 'ehlo'
  | 'helo'
  | 'starttls'
  | 'auth'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'dot'
  | 'rset'
  | 'quit'
  | 'other';

const OK = '250 2.0.0 ok\r\n';

/** The relay a connection belongs to: its script, and what it records. */
export interface ScriptedRelay {
  script: Script;
  readonly received: Received[];
  readonly commands: string[];
  impatient: number;
  open: number;
  quits: number;
}

export class Conversation {
  readonly #sink: ScriptedRelay;
  readonly #number: number;
  readonly #times = new Map<Point, number>();
  #socket: Socket;
  #bytes = Buffer.alloc(0);
  #arrived: () => void = () => {};
  #busy = false;
  #from = '';
  #to = '';

  constructor(sink: ScriptedRelay, socket: Socket, number: number) {
    this.#sink = sink;
    this.#number = number;
    this.#socket = socket;
    this.#listen(socket);
  }

  async run(): Promise<void> {
    const { most } = this.#sink.script;
    if (most !== undefined && this.#sink.open > most) {
      this.#socket.end('421 4.7.0 too many connections\r\n');
      return;
    }
    await this.#say('greeting', '', '220 sink ESMTP\r\n');
    while (!this.#socket.destroyed) {
      const line = await this.#line();
      this.#sink.commands.push(line);
      await this.#obey(line);
    }
  }

  async #obey(line: string): Promise<void> {
    switch (line.slice(0, 4).toUpperCase()) {
      case 'EHLO':
        return this.#say('ehlo', line, this.#hello());
      case 'HELO':
        return this.#say('helo', line, '250 sink\r\n');
      case 'STAR':
        return this.#startTls(line);
      case 'AUTH':
        return this.#say('auth', line, '235 2.7.0 welcome\r\n');
      case 'MAIL':
        this.#from = address(line);
        return this.#say('mail', line, OK);
      case 'RCPT':
        this.#to = address(line);
        return this.#say('rcpt', line, OK);
      case 'DATA':
        return this.#say('data', line, '354 go ahead\r\n');
      case 'RSET':
        return this.#say('rset', line, OK);
      case 'QUIT':
        this.#sink.quits++;
        await this.#say('quit', line, '221 bye\r\n');
        this.#socket.end();
        return;
      default:
        return this.#say('other', line, '500 5.5.1 what?\r\n');
    }
  }

  #hello(): string {
    const lines = ['sink', ...(this.#sink.script.offers ?? ['PIPELINING', '8BITMIME', 'SIZE 10000000'])];
    return lines.map((text, index) => `250${index === lines.length - 1 ? ' ' : '-'}${text}\r\n`).join('');
  }

  async #startTls(line: string): Promise<void> {
    await this.#say('starttls', line, '220 go ahead\r\n');
    const { context } = this.#sink.script;
    if (context === undefined || this.#socket.destroyed) return;
    this.#socket.removeAllListeners('data');
    const secured = new TLSSocket(this.#socket, { isServer: true, secureContext: context });
    this.#bytes = Buffer.alloc(0);
    this.#socket = secured;
    this.#listen(secured);
  }

  /** Sends the scripted reply, and reads a message after a 354. */
  async #say(point: Point, line: string, usual: string): Promise<void> {
    const time = (this.#times.get(point) ?? 0) + 1;
    this.#times.set(point, time);
    const answer = this.#sink.script[point];
    const moment = { line, connection: this.#number, time, pipelined: this.#bytes.toString('latin1') };
    this.#busy = true;
    const said = await this.#speak(
      typeof answer === 'function' ? await answer(moment) : answer === undefined ? usual : answer,
    );
    this.#busy = false;
    if (point === 'data' && said.startsWith('354')) await this.#takeMessage();
  }

  async #takeMessage(): Promise<void> {
    const { early, ignoresData } = this.#sink.script;
    if (ignoresData) {
      this.#socket.pause();
      await new Promise(() => {});
    }
    if (early !== undefined) {
      while (this.#bytes.length < early.after) await this.#more();
      await this.#speak(early.answer);
    }
    const message = await this.#message();
    if (this.#sink.script.forgetsBehindDot) this.#bytes = Buffer.alloc(0);
    if (message.length > 0) this.#sink.received.push({ from: this.#from, to: this.#to, message });
    await this.#say('dot', '', OK);
  }

  async #speak(said: Said): Promise<string> {
    if (said === DROP) this.#socket.destroy();
    if (said === null || said === DROP) return new Promise(() => {});
    const { drip } = this.#sink.script;
    if (drip === undefined) this.#socket.write(said, 'latin1');
    for (const byte of drip === undefined ? '' : said) {
      if (this.#socket.destroyed) break;
      this.#socket.write(byte, 'latin1');
      await sleep(drip);
    }
    return said;
  }

  async #line(): Promise<string> {
    for (;;) {
      const end = this.#bytes.indexOf('\r\n');
      if (end !== -1) {
        const line = this.#bytes.toString('latin1', 0, end);
        this.#bytes = this.#bytes.subarray(end + 2);
        return line;
      }
      await this.#more();
    }
  }

  /** The message up to the end of data, without dot-stuffing. */
  async #message(): Promise<Buffer> {
    const empty = () => this.#bytes.subarray(0, 3).equals(Buffer.from('.\r\n'));
    let end = this.#bytes.indexOf('\r\n.\r\n');
    for (let searched = 0; end === -1 && !empty(); end = this.#bytes.indexOf('\r\n.\r\n', searched)) {
      searched = Math.max(0, this.#bytes.length - 4);
      await this.#more();
    }
    const stuffed = empty() ? '' : `\r\n${this.#bytes.toString('latin1', 0, end + 2)}`;
    this.#bytes = this.#bytes.subarray(empty() ? 3 : end + 5);
    return Buffer.from(stuffed.replaceAll('\r\n.', '\r\n').slice(2), 'latin1');
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#arrived = resolve;
    });
  }

  #listen(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      const offers = this.#sink.script.offers ?? ['PIPELINING'];
      if (this.#busy && !offers.includes('PIPELINING')) this.#sink.impatient++;
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      this.#arrived();
    });
  }
}

function address(line: string): string {
  return line.slice(line.indexOf('<') + 1, line.indexOf('>'));
}
