/** The outcome of one SMTP transaction, in the ledger's terms. */

/** The command to which an outcome belongs. `body` means that the end of data was sent, so the relay may have the message. */
export type Stage = 'connect' | 'tls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'body';

/**
 * accepted: the relay took responsibility for the message (RFC 5321 6.1). deferred: try this recipient again later. refused: this recipient
 * failed permanently. held: the relay rejects all our mail, so no recipient bounces.
 */
type Kind = 'accepted' | 'deferred' | 'refused' | 'held';

const MAX_CHARACTERS = 1_000;

export type Outcome = {
  kind: Kind;
  stage: Stage;
  /** The reply code; 0 if there is no reply, because the connection was lost, a timeout passed, or our side decided. */
  code: number;
  /** The enhanced status code (RFC 3463), such as 5.1.1; null if there is none or it contradicts the reply code. */
  enhanced: string | null;
  /** The relay's reply, or a description of the error: one printable line of at most 1 000 characters. */
  reply: string;
};

/** Returns the outcome for a reply at a stage (RFC 5321 4.2.1, 4.3.2). A code that is not defined there counts as deferred. */
export function replyOutcome(stage: Stage, reply: Reply): Outcome {
  const enhanced = enhancedCode(reply);
  return { kind: replyKind(stage, reply.code), stage, code: reply.code, enhanced, reply: readable(reply, enhanced) };
}

/** Returns an outcome without a reply. `why` describes the reason. */
export function withoutReply(kind: Kind, stage: Stage, why: string): Outcome {
  return { kind, stage, code: 0, enhanced: null, reply: oneLine(why) };
}

function replyKind(stage: Stage, code: number): Kind {
  if (code >= 500) return stage === 'rcpt' || stage === 'data' || stage === 'body' ? 'refused' : 'held';
  return stage === 'body' && code < 300 ? 'accepted' : 'deferred';
}

/** Returns the enhanced code, which follows the reply code and must have the same first digit (RFC 2034 4); null if there is none. */
function enhancedCode(reply: Reply): string | null {
  const code = /^([245])\.\d{1,3}\.\d{1,3}(?=[ \n]|$)/.exec(reply.text);
  return code !== null && Number(code[1]) === Math.floor(reply.code / 100) ? code[0] : null;
}

/** Returns the reply with the enhanced code only once. In a multi-line reply, every line repeats the code. */
function readable(reply: Reply, enhanced: string | null): string {
  const text = enhanced === null ? reply.text : reply.text.replaceAll(`\n${enhanced} `, '\n');
  return oneLine(`${reply.code} ${text}`);
}

/**
 * Converts text to one printable line. The reply reader returns one character per byte, so text that is not ASCII is decoded as UTF-8 here.
 */
function oneLine(text: string): string {
  const start = text.length > MAX_CHARACTERS ? text.slice(0, 4 * MAX_CHARACTERS) : text;
  if (/^[ -~]*$/.test(start)) return start.slice(0, MAX_CHARACTERS);
  const decoded = /^[\0-\x7f]*$/.test(start) ? start : Buffer.from(start, 'latin1').toString('utf8');
  return decoded
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, MAX_CHARACTERS);
}

export type Reply = {
  /** The reply code, 200–599; 0 if the bytes are not an SMTP reply, and `text` then explains why. */
  code: number;
  /** The lines without code and CRLF, joined by \n. Each byte is one character. */
  text: string;
};

/**
 * The maximum size of a reply in bytes. RFC 5321 4.5.3.1.5 limits a line to 512 bytes; real relays send longer replies, but none this long.
 */
const MAX_REPLY_BYTES = 131_072;

/** Parses replies. Call `feed` with each chunk, then `next` until it returns null. After a reply with code 0 the reader cannot be used. */
export class ReplyReader {
  #input = '';
  /** The position in the input where the next line starts. */
  #at = 0;
  #code = 0;
  #text = '';
  #bytes = 0;

  /** Whether all bytes fed so far have been returned as complete replies. */
  get empty(): boolean {
    return this.#at === this.#input.length && this.#code === 0;
  }

  feed(chunk: Buffer): void {
    const text = chunk.toString('latin1');
    this.#input = this.#at === this.#input.length ? text : this.#input.slice(this.#at) + text;
    this.#at = 0;
  }

  /** Returns the next complete reply; null if its end has not arrived yet. */
  next(): Reply | null {
    for (;;) {
      const end = this.#input.indexOf('\n', this.#at);
      const length = (end === -1 ? this.#input.length : end) - this.#at;
      if (this.#bytes + length > MAX_REPLY_BYTES) return broken('the relay sent an endless reply');
      if (end === -1) return null;
      const line = this.#input.slice(this.#at, this.#input[end - 1] === '\r' ? end - 1 : end);
      this.#at = end + 1;
      this.#bytes += length;

      const code = parseCode(line);
      const mark = line.length === 3 ? ' ' : line[3];
      if (code === 0 || (mark !== ' ' && mark !== '-') || (this.#code !== 0 && code !== this.#code)) {
        return broken(`the relay sent something that is not an SMTP reply: ${line.slice(0, 200)}`);
      }
      const text = this.#code === 0 ? line.slice(4) : `${this.#text}\n${line.slice(4)}`;
      if (mark === ' ') {
        this.#code = 0;
        this.#text = '';
        this.#bytes = 0;
        return { code, text };
      }
      this.#code = code;
      this.#text = text;
    }
  }
}

/**
 * Returns the reply code at the start of a line; 0 if there is none. RFC 5321 4.2 requires [2-5][0-5][0-9]; this function accepts any
 * second digit.
 */
function parseCode(line: string): number {
  const first = line.charCodeAt(0) - 48;
  const second = line.charCodeAt(1) - 48;
  const third = line.charCodeAt(2) - 48;
  const digits = first >= 2 && first <= 5 && second >= 0 && second <= 9 && third >= 0 && third <= 9;
  return digits ? first * 100 + second * 10 + third : 0;
}

function broken(why: string): Reply {
  return { code: 0, text: why };
}
