/** Mail data, the bytes of a message after DATA (RFC 5321 2.3.1), restricted to what every server accepts. */

/** Anything that is neither printable ASCII nor a CRLF. */
const INVALID = /[^ -~\r\n]|\r(?!\n)|(?<!\r)\n/;

/**
 * Whether text is printable ASCII in lines that end with CRLF (RFC 5321 2.3.8). Other characters must never be written:
 * `latin1` keeps only their low byte, which turns č into CR and Ċ into LF and so could start a new command or field.
 */
export function isMailText(text: string): boolean {
  return !INVALID.test(text);
}

/** A message, or a piece of one. Every way to create it checks that it is printable ASCII in lines that end with CRLF. */
export class MailData {
  readonly bytes: Buffer;

  private constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** @throws TypeError for text with any other character, a bare CR or a bare LF. */
  static of(text: string): MailData {
    return new MailData(Buffer.from(requireMailText(text), 'latin1'));
  }

  /**
   * Joins `fixed[0]`, `values[order[0]]`, `fixed[1]`, `values[order[1]]` and so on.
   * @param target a buffer to write to if it is large enough; the result is then a view of it.
   * @throws TypeError for a value that `of` does not accept.
   */
  static merged(
    fixed: readonly MailData[],
    values: readonly string[],
    order: readonly number[],
    target?: Buffer,
  ): MailData {
    values.forEach(requireMailText);
    const placed = order.map((number) => values[number] ?? '');
    const length = fixed.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const whole = placed.reduce((sum, value) => sum + value.length, length);
    const message = target && target.length >= whole ? target.subarray(0, whole) : Buffer.allocUnsafe(whole);
    let end = 0;
    for (let place = 0; place < fixed.length; place++) {
      const piece = fixed[place];
      if (piece === undefined) break;
      message.set(piece.bytes, end);
      end += piece.bytes.length;
      const value = placed[place];
      if (value !== undefined) end += message.write(value, end, 'latin1');
    }
    return new MailData(message);
  }

  /** This message with a header field put before it. @throws TypeError as `of`. */
  withField(field: string): MailData {
    return new MailData(Buffer.concat([MailData.of(field).bytes, this.bytes]));
  }
}

function requireMailText(text: string): string {
  if (!isMailText(text)) throw new TypeError('a message may contain only printable ASCII in lines that end with CRLF');
  return text;
}
