/** Reads SMTP replies out of whatever pieces the network delivers (RFC 5321 4.2). */

export type Reply = {
  /** 200–599; 0 marks bytes that are no reply, and `text` says why. */
  code: number;
  /** The lines without code and line end, joined by \n; one character per byte. */
  text: string;
};

/** RFC 5321 4.5.3.1.5 asks for 512 bytes a line; real relays send more, none this much. */
const MAX_REPLY_BYTES = 131_072;

/** Feed it chunks, then take replies with `next` until it gives null. After a reply with code 0 it is of no more use. */
export class ReplyReader {
  #input = '';
  /** Where in the input the next line starts. */
  #at = 0;
  #code = 0;
  #text = '';
  #bytes = 0;

  /** Whether it stands between two replies with nothing left over. */
  get empty(): boolean {
    return this.#at === this.#input.length && this.#code === 0;
  }

  feed(chunk: Buffer): void {
    const text = chunk.toString('latin1');
    this.#input = this.#at === this.#input.length ? text : this.#input.slice(this.#at) + text;
    this.#at = 0;
  }

  /** The next complete reply, or null while its end has not arrived. */
  next(): Reply | null {
    for (;;) {
      const end = this.#input.indexOf('\n', this.#at);
      const length = (end === -1 ? this.#input.length : end) - this.#at;
      if (this.#bytes + length > MAX_REPLY_BYTES) return broken('the relay sent an endless reply');
      if (end === -1) return null;
      const line = this.#input.slice(this.#at, this.#input[end - 1] === '\r' ? end - 1 : end);
      this.#at = end + 1;
      this.#bytes += length;

      const code = codeOf(line);
      const mark = line.length === 3 ? ' ' : line[3];
      if (code === 0 || (mark !== ' ' && mark !== '-') || (this.#code !== 0 && code !== this.#code)) {
        return broken(`the relay sent something that is no SMTP reply: ${line.slice(0, 200)}`);
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

/** The three digits a reply line starts with, or 0 (RFC 5321 4.2: [2-5][0-5][0-9]; the second digit is not held against it). */
function codeOf(line: string): number {
  const first = line.charCodeAt(0) - 48;
  const second = line.charCodeAt(1) - 48;
  const third = line.charCodeAt(2) - 48;
  const digits = first >= 2 && first <= 5 && second >= 0 && second <= 9 && third >= 0 && third <= 9;
  return digits ? first * 100 + second * 10 + third : 0;
}

function broken(why: string): Reply {
  return { code: 0, text: why };
}
