/** How long the client waits for what, in milliseconds. */

export type Timeouts = {
  /** From connecting to the first MAIL FROM, where another relay or connection can take the mail (not in RFC 5321). */
  opening: number;
  /** Until the TCP connection stands (not in RFC 5321). */
  connect: number;
  /** Until the TLS handshake is through (not in RFC 5321). */
  tls: number;
  /** The 220 greeting (RFC 5321 4.5.3.2.1). */
  greeting: number;
  /** EHLO, STARTTLS, AUTH, RSET: as for MAIL. */
  command: number;
  /** RFC 5321 4.5.3.2.2. */
  mail: number;
  /** RFC 5321 4.5.3.2.3. */
  rcpt: number;
  /** DATA to 354 (RFC 5321 4.5.3.2.4). */
  data: number;
  /** Until the network took a block of 64 KiB (RFC 5321 4.5.3.2.5). */
  block: number;
  /** The dot to its reply (RFC 5321 4.5.3.2.6). */
  dot: number;
  /** QUIT to the end of the connection. */
  quit: number;
  /** How long an unused connection is kept. */
  idle: number;
};

export const RFC_TIMEOUTS: Timeouts = {
  opening: 30_000,
  connect: 30_000,
  tls: 120_000,
  greeting: 300_000,
  command: 300_000,
  mail: 300_000,
  rcpt: 300_000,
  data: 120_000,
  block: 180_000,
  dot: 600_000,
  quit: 5_000,
  idle: 5_000,
};
