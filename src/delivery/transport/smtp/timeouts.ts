/** The SMTP client's timeouts, in milliseconds. */

export type Timeouts = {
  /** From connecting to the first MAIL FROM. Used only while another relay or connection can send the mail (not in RFC 5321). */
  handshake: number;
  /** Until the TCP connection is established (not in RFC 5321). */
  connect: number;
  /** The TLS handshake (not in RFC 5321). */
  tls: number;
  /** Until the 220 greeting (RFC 5321 4.5.3.2.1). */
  greeting: number;
  /** Until the reply to EHLO, STARTTLS, AUTH or RSET; RFC 5321 names no timeout for them, so the timeout of MAIL is used. */
  command: number;
  /** Until the reply to MAIL (RFC 5321 4.5.3.2.2). */
  mail: number;
  /** Until the reply to RCPT (RFC 5321 4.5.3.2.3). */
  rcpt: number;
  /** Until the 354 reply to DATA (RFC 5321 4.5.3.2.4). */
  data: number;
  /** Until a block of 64 KiB is written (RFC 5321 4.5.3.2.5). */
  block: number;
  /** Until the reply to the end of data (RFC 5321 4.5.3.2.6). */
  endOfData: number;
  /** Until the connection is closed after QUIT; nothing depends on it any more (not in RFC 5321). */
  quit: number;
  /** How long an unused connection stays open (not in RFC 5321). */
  idle: number;
};

/**
 * The values for production: at least those that RFC 5321 4.5.3.2 requires, but for `handshake`, which is used only
 * where nothing is lost.
 */
export const RFC_TIMEOUTS: Timeouts = {
  handshake: 30_000,
  connect: 30_000,
  tls: 120_000,
  greeting: 300_000,
  command: 300_000,
  mail: 300_000,
  rcpt: 300_000,
  data: 120_000,
  block: 180_000,
  endOfData: 600_000,
  quit: 5_000,
  idle: 5_000,
};
