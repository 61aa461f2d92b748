/** Mail data: the bytes of a message as they follow DATA (RFC 5321 2.3.1), in the only form that leaves this service. */

/** Whatever is neither printable ASCII nor the CRLF that ends a line. */
const FAULT = /[^ -~\r\n]|\r(?!\n)|(?<!\r)\n/;

/**
 * Whether text is printable ASCII in lines that end with CRLF (RFC 5321 2.3.8). A letter beyond that must never be
 * written: `latin1` keeps its low byte only, which makes a CR of č and a LF of Ċ and so begins a command or a field.
 */
export function isMailText(text: string): boolean {
  return !FAULT.test(text);
}

/** A message, or a piece of one, that is known to be printable ASCII in lines that end with CRLF: there is no other way to make one. */
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
   * `fixed[0]`, the value numbered `order[0]`, `fixed[1]` and so on.
   * @param target memory to write to, if it is large enough: the result is then a view of it.
   * @throws TypeError for a value that `of` does not take.
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

  /** This with a field before it. @throws TypeError as `of`. */
  withField(field: string): MailData {
    return new MailData(Buffer.concat([MailData.of(field).bytes, this.bytes]));
  }
}

function requireMailText(text: string): string {
  if (!isMailText(text)) throw new TypeError('a message holds only printable ASCII in lines that end with CRLF');
  return text;
}
