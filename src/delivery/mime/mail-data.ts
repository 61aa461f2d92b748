/**
 * Mail data: the bytes of a message after DATA (RFC 5321 2.3.1), restricted to what every server accepts. A mail form holds the bytes that
 * all mails of a mailing share.
 */

/** A message, or a piece of one. Every constructor checks that it is printable ASCII in lines that end with CRLF. */
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
   * Returns a form filled in with these values.
   * @param target a buffer to write to if it is large enough; the result is then a view of it.
   * @throws TypeError for a value that `of` does not accept.
   */
  static filled(form: MailForm, values: readonly FilledIn[], target?: Buffer): MailData {
    return new MailData(form.fill(values, target));
  }

  get length(): number {
    return this.bytes.length;
  }

  /** Joins several pieces. */
  static joined(pieces: readonly MailData[]): MailData {
    return new MailData(Buffer.concat(pieces.map(({ bytes }) => bytes)));
  }

  /** Returns this message with a header field put in front. @throws TypeError as `of` does. */
  withField(field: string): MailData {
    return new MailData(Buffer.concat([MailData.of(field).bytes, this.bytes]));
  }
}

/** A value that is filled into a form. */
export type FilledIn = string | MailData;

/** The number of places from which a value counts as frequent. A value in fewer places is simply written into each of them. */
const MIN_FREQUENCY = 4;
/** The maximum number of arrangements kept. The length of a value depends on the digits of a few ids, so a mailing needs two or three. */
const MAX_ARRANGEMENTS = 8;

/** The form for one length of the most frequent value. Its pieces contain gaps for that value, so that there are only few pieces. */
interface Arrangement {
  /** The message consists of `pieces[0]`, the value number `order[0]`, `pieces[1]` and so on. */
  readonly pieces: readonly Buffer[];
  readonly order: readonly number[];
  /** The positions of the gaps in each piece. */
  readonly gaps: readonly (readonly number[])[];
  /** The total length of all pieces. */
  readonly size: number;
}

/**
 * A message as `fixed[0]`, the value number `order[0]`, `fixed[1]` and so on.
 *
 * The click URL, without the link number at its end, is the same at every tracked link of a mail. Joining a mail with a hundred links from
 * hundreds of pieces costs more than everything else about it (`npm run bench:message`). So the pieces between those links are joined once
 * for each length of the URL, with gaps of that length, and each recipient costs one copy of the whole and a short copy for each gap.
 */
export class MailForm {
  readonly #fixed: readonly Buffer[];
  readonly order: readonly number[];
  /** The number of the most frequent value, or −1 if no value is frequent. */
  readonly #frequent: number;
  readonly #arrangements = new Map<number, Arrangement>();
  /** The text after the last fixed piece. It can be large, so it is not copied into the arrangements. */
  readonly #end: Uint8Array;

  /**
   * @param end what every message ends with.
   * @throws TypeError for text that is not printable ASCII in lines that end with CRLF.
   */
  constructor(fixed: readonly string[], order: readonly number[], end: MailData | null = null) {
    this.#end = end?.bytes ?? new Uint8Array();
    this.#fixed = fixed.map((text) => Buffer.from(requireMailText(text), 'latin1'));
    this.order = order;
    this.#frequent = mostFrequent(order);
  }

  /**
   * Writes the message with these values. A value that many recipients get, such as a branch of a condition, is mail data
   * that was checked once.
   * @param target a buffer to write to if it is large enough; the result is then a view of it.
   * @throws TypeError for a value that is not printable ASCII in lines that end with CRLF.
   */
  fill(values: readonly FilledIn[], target?: Buffer): Buffer {
    // One check of all values costs less than a check of each. The spaces keep a CR and an LF of two values apart.
    requireMailText(values.filter((value) => typeof value === 'string').join(' '));
    const frequentValue = values[this.#frequent] ?? '';
    const { pieces, order, gaps, size } = this.#arrangement(frequentValue.length);
    let length = size + this.#end.length;
    for (const number of order) length += (values[number] ?? '').length;
    const message = target && target.length >= length ? target.subarray(0, length) : Buffer.allocUnsafe(length);
    const gapFill = typeof frequentValue === 'string' ? Buffer.from(frequentValue, 'latin1') : frequentValue.bytes;
    let end = 0;
    for (let place = 0; place < pieces.length; place++) {
      const piece = pieces[place];
      if (piece === undefined) break;
      message.set(piece, end);
      for (const gap of gaps[place] ?? []) message.set(gapFill, end + gap);
      end += piece.length;
      const value = values[order[place] ?? -1];
      if (value === undefined) continue;
      if (typeof value === 'string') end += message.write(value, end, 'latin1');
      else {
        message.set(value.bytes, end);
        end += value.length;
      }
    }
    message.set(this.#end, end);
    return message;
  }

  #arrangement(length: number): Arrangement {
    const known = this.#arrangements.get(length);
    if (known !== undefined) return known;
    if (this.#arrangements.size === MAX_ARRANGEMENTS) this.#arrangements.clear();
    const arranged = this.#arrange(length);
    this.#arrangements.set(length, arranged);
    return arranged;
  }

  #arrange(length: number): Arrangement {
    const gap = Buffer.alloc(length);
    const pieces: Buffer[] = [];
    const order: number[] = [];
    const gaps: number[][] = [];
    let parts: Buffer[] = [];
    let starts: number[] = [];
    let at = 0;
    const close = () => {
      pieces.push(Buffer.concat(parts));
      gaps.push(starts);
      [parts, starts, at] = [[], [], 0];
    };
    this.#fixed.forEach((bytes, place) => {
      parts.push(bytes);
      at += bytes.length;
      const number = this.order[place];
      if (number === undefined) return;
      if (number === this.#frequent) {
        starts.push(at);
        parts.push(gap);
        at += length;
      } else {
        order.push(number);
        close();
      }
    });
    close();
    return { pieces, order, gaps, size: pieces.reduce((sum, piece) => sum + piece.length, 0) };
  }
}

/** Returns the number that occurs most often in a list; −1 if no number occurs at least `MIN_FREQUENCY` times. */
function mostFrequent(order: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const number of order) counts.set(number, (counts.get(number) ?? 0) + 1);
  let mostFrequentNumber = -1;
  let highest = MIN_FREQUENCY - 1;
  for (const [number, count] of counts) if (count > highest) [mostFrequentNumber, highest] = [number, count];
  return mostFrequentNumber;
}

/** Matches anything that is neither printable ASCII nor a CRLF. */
const INVALID = /[^ -~\r\n]|\r(?!\n)|(?<!\r)\n/;

/**
 * Returns true if text is printable ASCII in lines that end with CRLF (RFC 5321 2.3.8). Other characters must never be written: `latin1`
 * keeps only their low byte, which turns č into CR and Ċ into LF and so could start a new command or field.
 */
export function isMailText(text: string): boolean {
  return !INVALID.test(text);
}

/** Returns the text unchanged. @throws TypeError unless it is mail text. */
export function requireMailText(text: string): string {
  if (!isMailText(text)) throw new TypeError('a message may contain only printable ASCII in lines that end with CRLF');
  return text;
}
