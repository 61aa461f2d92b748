/** Mail data, the bytes of a message after DATA (RFC 5321 2.3.1), restricted to what every server accepts. */
import { type MailForm, requireMailText } from './mail-form.ts';

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
   * A form filled in with these values.
   * @param target a buffer to write to if it is large enough; the result is then a view of it.
   * @throws TypeError for a value that `of` does not accept.
   */
  static filled(form: MailForm, values: readonly string[], target?: Buffer): MailData {
    return new MailData(form.fill(values, target));
  }

  /** Several pieces as one. */
  static joined(pieces: readonly MailData[]): MailData {
    return new MailData(Buffer.concat(pieces.map(({ bytes }) => bytes)));
  }

  /** This message with a header field put before it. @throws TypeError as `of`. */
  withField(field: string): MailData {
    return new MailData(Buffer.concat([MailData.of(field).bytes, this.bytes]));
  }
}
