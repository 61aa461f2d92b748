/** Reads the replies of an SMTP relay from the bytes that it sends (RFC 5321 4.2). */

/** One reply of a relay. */
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

  /** True if all bytes fed so far have been returned as complete replies. */
  get isEmpty(): boolean {
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
