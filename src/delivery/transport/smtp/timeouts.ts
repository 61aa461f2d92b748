/** The SMTP client's timeouts, in milliseconds. */

export type Timeouts = {
  /** From connecting to the first MAIL FROM, if another relay or connection can send the mail (not in RFC 5321). */
  handshake: number;
  /** To the established TCP connection (not in RFC 5321). */
  connect: number;
  /** The TLS handshake (not in RFC 5321). */
  tls: number;
  /** To the 220 greeting (RFC 5321 4.5.3.2.1). */
  greeting: number;
  /** EHLO, STARTTLS, AUTH, RSET to their reply; as for MAIL. */
  command: number;
  /** MAIL to its reply (RFC 5321 4.5.3.2.2). */
  mail: number;
  /** RCPT to its reply (RFC 5321 4.5.3.2.3). */
  rcpt: number;
  /** DATA to 354 (RFC 5321 4.5.3.2.4). */
  data: number;
  /** Until a block of 64 KiB is written (RFC 5321 4.5.3.2.5). */
  block: number;
  /** End of data to its reply (RFC 5321 4.5.3.2.6). */
  endOfData: number;
  /** QUIT to the closed connection. */
  quit: number;
  /** How long an unused connection stays open. */
  idle: number;
};

/** The production values: at least what RFC 5321 4.5.3.2 asks for. */
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
