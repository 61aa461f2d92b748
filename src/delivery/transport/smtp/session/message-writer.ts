/**
 * Writes messages to a connection: with dot-stuffing, in blocks, each after the previous one has been flushed, so that a large message does
 * not pile up in memory. The end of data and the commands after it are sent in the same packet as the last block.
 */
import type { SmtpConnection } from '../connection.ts';

/** The size of a block in bytes. Each block has a timeout of its own (RFC 5321 4.5.3.2.5). */
const BLOCK_BYTES = 65_536;

/**
 * The size of the two buffers in which messages are built, in bytes. The buffers are reused, because allocating one for each message costs
 * more than building the message.
 */
const BUFFER_BYTES = 65_536;

const LINE_FEED = 0x0a;

interface MessageListener {
  /** Called right before the end of data is written. Returns the commands to write after it. */
  endingData(): string;
  /** Called when the socket has flushed the end of data of the latest message. */
  flushed(): void;
}

export class MessageWriter {
  readonly #connection: SmtpConnection;
  readonly #blockMs: number;
  readonly #listener: MessageListener;
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #spareBuffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  /** The message being written. */
  #message: Buffer | null = null;
  /** The number of bytes of the message already written. */
  #bytesWritten = 0;
  /** Messages passed to the socket, and those it has flushed. Until they are equal, the socket may still read the buffer. */
  #messagesWritten = 0;
  #messagesFlushed = 0;

  /** `blockMs` is how long writing a block may take, in milliseconds. */
  constructor(connection: SmtpConnection, blockMs: number, listener: MessageListener) {
    this.#connection = connection;
    this.#blockMs = blockMs;
    this.#listener = listener;
  }

  /** The buffer in which the next transaction's message can be built. */
  get buffer(): Buffer {
    return this.#buffer;
  }

  /** The buffer in which a pipelined mail's message can be built while the current message is written from `buffer`. */
  get spareBuffer(): Buffer {
    return this.#spareBuffer;
  }

  /** Writes a message and its end of data. `isDotless` is true if no line of the message can begin with a dot. */
  write(message: Buffer, isDotless: boolean): void {
    this.#message = isDotless ? message : stuffDots(message);
    this.#bytesWritten = 0;
    this.#writeBlock();
  }

  /** Writes nothing more of the message. */
  stop(): void {
    this.#message = null;
  }

  /** Frees `buffer` for the next message. If `isPipelined`, that message is already in the spare buffer. */
  prepareNext(isPipelined: boolean): void {
    if (this.#messagesWritten !== this.#messagesFlushed) this.#buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
    if (isPipelined) [this.#buffer, this.#spareBuffer] = [this.#spareBuffer, this.#buffer];
  }

  /** Writes the next block. This is also the callback for each flushed block. */
  readonly #writeBlock = (error?: Error | null): void => {
    const message = this.#message;
    if (error || message === null) return;
    this.#connection.within(this.#blockMs);
    const start = this.#bytesWritten;
    if (message.length - start > BLOCK_BYTES) {
      this.#bytesWritten += BLOCK_BYTES;
      this.#connection.send(message.subarray(start, this.#bytesWritten), '', this.#writeBlock);
    } else {
      this.#writeLastBlock(message, start);
    }
  };

  #writeLastBlock(message: Buffer, start: number): void {
    this.#message = null;
    const isLineEnded = message.length === 0 || message[message.length - 1] === LINE_FEED;
    const end = `${isLineEnded ? '' : '\r\n'}.\r\n${this.#listener.endingData()}`;
    this.#messagesWritten++;
    if (start === 0 && this.#hasRoomAfter(message, end.length)) {
      // One write from one buffer costs a third less than two writes corked together.
      this.#buffer.write(end, message.length, 'latin1');
      this.#connection.send(this.#buffer.subarray(0, message.length + end.length), '', this.#markFlushed);
    } else {
      this.#connection.send(start === 0 ? message : message.subarray(start), end, this.#markFlushed);
    }
  }

  /** Returns true if the message lies at the start of the buffer, with `length` bytes free after it. */
  #hasRoomAfter(message: Buffer, length: number): boolean {
    const { buffer, byteOffset } = this.#buffer;
    return message.buffer === buffer && message.byteOffset === byteOffset && message.length + length <= BUFFER_BYTES;
  }

  readonly #markFlushed = (error?: Error | null): void => {
    this.#messagesFlushed++;
    if (!error && this.#messagesFlushed === this.#messagesWritten) this.#listener.flushed();
  };
}

const LINE_THEN_DOT = Buffer.from('\n.');
const DOT = 0x2e;

/**
 * Doubles every dot at the start of a line. Returns the same Buffer if there is none. A bare LF counts as a line end, because some relays
 * treat it as a line end and would find an end of data there.
 */
export function stuffDots(message: Buffer): Buffer {
  const places = message[0] === DOT ? [0] : [];
  for (let at = message.indexOf(LINE_THEN_DOT); at !== -1; at = message.indexOf(LINE_THEN_DOT, at + 2)) {
    places.push(at + 1);
  }
  if (places.length === 0) return message;

  const stuffed = Buffer.allocUnsafe(message.length + places.length);
  let from = 0;
  let to = 0;
  for (const place of places) {
    to += message.copy(stuffed, to, from, place);
    stuffed[to++] = DOT;
    from = place;
  }
  message.copy(stuffed, to, from);
  return stuffed;
}
