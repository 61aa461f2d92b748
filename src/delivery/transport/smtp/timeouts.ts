/** The SMTP client's timeouts. All are in milliseconds. */

export type Timeouts = {
  /**
   * The time from connecting to the first MAIL FROM. It is used only while another relay or connection can send the mail (not in RFC 5321).
   */
  handshake: number;
  /** The time until the TCP connection is established (not in RFC 5321). */
  connect: number;
  /** The time for the TLS handshake (not in RFC 5321). */
  tls: number;
  /** The time until the 220 greeting (RFC 5321 4.5.3.2.1). */
  greeting: number;
  /** The time until the reply to EHLO, STARTTLS, AUTH or RSET. RFC 5321 names no timeout for these, so the timeout of MAIL is used. */
  command: number;
  /** The time until the reply to MAIL (RFC 5321 4.5.3.2.2). */
  mail: number;
  /** The time until the reply to RCPT (RFC 5321 4.5.3.2.3). */
  rcpt: number;
  /** The time until the 354 reply to DATA (RFC 5321 4.5.3.2.4). */
  data: number;
  /** The time until a block of 64 KiB is written (RFC 5321 4.5.3.2.5). */
  block: number;
  /** The time until the reply to the end of data (RFC 5321 4.5.3.2.6). */
  endOfData: number;
  /** The time until the connection is closed after QUIT, when nothing depends on it any more (not in RFC 5321). */
  quit: number;
  /** The time for which an unused connection stays open (not in RFC 5321). */
  idle: number;
};

/**
 * The values for production. They are at least those that RFC 5321 4.5.3.2 requires, except `handshake`, which is used only where nothing
 * is lost.
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
