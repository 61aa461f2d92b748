/** Which text a message may contain (RFC 5321 2.3.1), so that every server accepts it. */

/** Anything that is neither printable ASCII nor a CRLF. */
const INVALID = /[^ -~\r\n]|\r(?!\n)|(?<!\r)\n/;

/**
 * Whether text is printable ASCII in lines that end with CRLF (RFC 5321 2.3.8). Other characters must never be written:
 * `latin1` keeps only their low byte, which turns č into CR and Ċ into LF and so could start a new command or field.
 */
export function isMailText(text: string): boolean {
  return !INVALID.test(text);
}

/** Gives the text back. @throws TypeError unless it is mail text. */
export function requireMailText(text: string): string {
  if (!isMailText(text)) throw new TypeError('a message may contain only printable ASCII in lines that end with CRLF');
  return text;
}
